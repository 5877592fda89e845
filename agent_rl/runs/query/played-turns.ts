import { groupBy } from '../../core/long-lists.ts';
import { drawnSpans, type Span } from '../../core/transcript.ts';
import { countText, numberText } from '../../telemetry/figures.ts';
import type { LearnedRecord } from '../episodes/learned-record.ts';
import type { EpisodeRecord } from '../episodes/read-episodes.ts';
import type { EpisodeTurn } from '../view/api.ts';

type Played = Pick<EpisodeRecord, 'sequences' | 'requests' | 'undelivered'>;

/** The turns of a part as a tree: each behind the one that it continues. @param learned says what was trained, where it is recorded */
export function playedTurns(part: Played, learned?: LearnedRecord | null): EpisodeTurn[] {
  const turns = turnsOf(part.sequences);
  const shown = shownBy(turns, part.requests?.answer);
  const children = groupBy(turns, ({ after }) => after);
  const ordered: EpisodeTurn[] = [];
  const place = (after: number | null, indent: number): void => {
    const own = (children.get(after) ?? []).toSorted((a, b) => a.turn - b.turn);
    children.delete(after);
    const inner = indent + Number(after !== null && own.length > 1);
    for (const one of own) {
      const { turn, tokens, sequence } = one;
      const isShown = shown?.has(turn) ?? true;
      const about = [
        `turn ${turn + 1}${after === null ? '' : ` after turn ${after + 1}`}: ${countText(tokens, 'token')}`,
        `sequence ${sequence + 1}`,
        ...(learned ? [learned.sent[sequence] ? 'trained' : 'not trained'] : []),
        ...(isShown ? ['in the messages'] : []),
      ].join(', ');
      ordered.push({ ...one, indent: inner, isShown, about });
      place(turn, inner);
    }
  };
  place(null, 0);
  return ordered;
}

type Drawn = Omit<EpisodeTurn, 'indent' | 'isShown' | 'about'>;

function turnsOf(sequences: Played['sequences']): Drawn[] {
  const turns: Drawn[] = [];
  for (const [sequence, drawn] of drawnSpans(sequences).entries()) {
    const from = drawn[0]?.start ?? 0;
    const before = sequences[sequence]?.spans.findLast(
      ({ source, end }) => source === 'sampled' && end <= from,
    );
    let after = before?.turn ?? null;
    for (const { start, end, version, turn = turns.length } of joined(drawn)) {
      turns.push({ turn, after, sequence, end, tokens: end - start, version });
      after = turn;
    }
  }
  return turns;
}

/** Spans of one turn as one: weights may change while it is sampled. */
function joined(spans: readonly Span[]): Span[] {
  const turns: Span[] = [];
  for (const span of spans) {
    const last = turns.at(-1);
    const isSame = last?.end === span.start && (last.turn ?? span.turn) === span.turn;
    if (isSame) turns.splice(-1, 1, { ...span, start: last.start });
    else turns.push(span);
  }
  return turns;
}

/** The turns up to the one that was taken as the answer. */
function shownBy(turns: readonly Drawn[], answer: number | undefined): Set<number> | undefined {
  if (answer === undefined) return undefined;
  const above = new Map(turns.map(({ turn, after }) => [turn, after]));
  const shown = new Set<number>();
  let at = above.has(answer) ? answer : null;
  while (at !== null && !shown.has(at)) {
    shown.add(at);
    at = above.get(at) ?? null;
  }
  return shown;
}

/** What an agent with a loop of its own asked of the model, in a line; `undefined` where the rollout played the loop. */
export function requestLine({ requests, sequences, undelivered }: Played): string | undefined {
  if (requests === undefined) return undefined;
  const { turns, delivered, replayed, drift, ignored } = requests;
  return [
    `requests: ${delivered} of ${countText(turns, 'answer')} reached the agent`,
    `${replayed} sent again`,
    countText(sequences.length, 'sequence'),
    `changed by the client: ${counts(drift) || 'nothing'}`,
    ...(counts(ignored) === '' ? [] : [`without effect: ${counts(ignored)}`]),
    ...(undelivered === 0
      ? []
      : [`never reached the agent: ${countText(undelivered, 'sampled token')}`]),
  ].join('; ');
}

const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${numberText(count)}`)
    .join(', ');
