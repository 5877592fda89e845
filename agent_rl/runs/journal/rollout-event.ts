import type { JournalEvent } from '../../core/services/journal.ts';
import type { Part, Rollout } from '../../core/rollout.ts';
import type { Span, TranscriptRecord } from '../../core/transcript.ts';
import type { NumberedEvent } from './event-frame.ts';

/** What was drawn for a request, by the number of its event. */
export interface Drawn {
  readonly seq: number;
  readonly tokens: Int32Array;
  readonly logProbs: Float32Array;
}

/** Tokens [from, to) of a generation, by the number of its event. */
type Piece = readonly [seq: number, from: number, to: number];

/** A sequence without its tokens: for each span, the generations that it consists of, or null where the rollout's own event has its tokens. */
interface WrittenSequence {
  readonly spans: readonly Span[];
  readonly drawn: readonly (readonly Piece[] | null)[];
}

type WrittenPart = Omit<Part, 'sequences'> & { readonly sequences: readonly WrittenSequence[] };

type WrittenRollout = Omit<Rollout, 'key' | 'parts'> & {
  readonly run: string;
  readonly parts: readonly WrittenPart[];
};

/** A rollout as an event. Its sampled tokens stand in the events of the generations that drew them. */
export function rolloutEvent(rollout: Rollout, drawn: readonly Drawn[]): JournalEvent {
  const { key, parts, ...others } = rollout;
  const { run, ...place } = key;
  const tokens: number[] = [];
  const logProbs: number[] = [];
  const written = ({ spans, tokens: all, logProbs: own }: TranscriptRecord): WrittenSequence => ({
    spans,
    drawn: spans.map((span) => {
      const pieces =
        span.source === 'sampled'
          ? piecesOf({ span, tokens: all, logProbs: own }, drawn)
          : undefined;
      if (pieces !== undefined) return pieces;
      for (let at = span.start; at < span.end; at++) {
        tokens.push(all[at]!);
        if (span.source === 'sampled') logProbs.push(own[at]!);
      }
      return null;
    }),
  });
  const data: WrittenRollout = {
    run,
    ...others,
    parts: parts.map((part) => Object.assign({}, part, { sequences: part.sequences.map(written) })),
  };
  return {
    type: 'rollout',
    ...place,
    attempt: rollout.failedAttempts.length,
    data: { ...data },
    tokens: Int32Array.from(tokens),
    ...(logProbs.length > 0 && { columns: { logProbs: Float32Array.from(logProbs) } }),
  };
}

interface SampledSpan extends Pick<TranscriptRecord, 'tokens' | 'logProbs'> {
  span: Span;
}

/** The generations that a span consists of; undefined where some of it was drawn by none of them. */
function piecesOf(sampled: SampledSpan, drawn: readonly Drawn[]): Piece[] | undefined {
  const pieces: Piece[] = [];
  const { end } = sampled.span;
  for (let at = sampled.span.start; at < end;) {
    let [best, most]: [Drawn | undefined, number] = [undefined, 0];
    for (const one of drawn) {
      const length = Math.min(one.tokens.length, end - at);
      // Of the same tokens drawn twice, the later ones: an episode that begins anew draws them again.
      if (length === 0 || length < most || !isAt(sampled, at, one, length)) continue;
      [best, most] = [one, length];
    }
    if (best === undefined) return undefined;
    pieces.push([best.seq, 0, most]);
    at += most;
  }
  return pieces;
}

const isAt = (
  { tokens, logProbs }: SampledSpan,
  at: number,
  drawn: Drawn,
  length: number,
): boolean => {
  for (let i = 0; i < length; i++)
    if (tokens[at + i] !== drawn.tokens[i] || logProbs[at + i] !== drawn.logProbs[i]) return false;
  return true;
};

/**
 * The rollout of such an event.
 *
 * @param drawn gives a generation by the number of its event
 * @throws Error where one is missing
 */
export function rolloutOf(
  event: NumberedEvent,
  drawn: (seq: number) => Omit<Drawn, 'seq'> | undefined,
): Rollout {
  const { tokens: own, columns } = event;
  let [place, sampledPlace] = [0, 0];
  const sequence = ({ spans, drawn: pieces }: WrittenSequence): TranscriptRecord => {
    const length = spans.at(-1)?.end ?? 0;
    const [tokens, logProbs] = [zeros(length), zeros(length)];
    for (const [index, { start, end, source }] of spans.entries()) {
      const from = pieces[index] ?? null;
      if (from === null) {
        for (let at = start; at < end; at++) {
          tokens[at] = own![place++]!;
          if (source === 'sampled') logProbs[at] = columns!.logProbs![sampledPlace++]!;
        }
        continue;
      }
      let at = start;
      for (const [seq, first, to] of from) {
        const generation = drawn(seq);
        if (generation === undefined) throw new Error(`its generation, event ${seq}, is missing`);
        for (let i = first; i < to; i++, at++) {
          tokens[at] = generation.tokens[i]!;
          logProbs[at] = generation.logProbs[i]!;
        }
      }
    }
    return { tokens, spans, logProbs };
  };
  return rolloutFrom(event, sequence);
}

/** The same without tokens and their log-probabilities. */
export const outlineOf = (event: NumberedEvent): Rollout =>
  rolloutFrom(event, ({ spans }) => ({ tokens: [], spans, logProbs: [] }));

/** The numbers of the generations that it consists of. */
export const generationsOf = ({ data }: NumberedEvent): number[] =>
  (data as unknown as WrittenRollout).parts.flatMap(({ sequences }) =>
    sequences.flatMap(({ drawn }) => drawn.flatMap((pieces) => pieces?.map(([seq]) => seq) ?? [])),
  );

function rolloutFrom(
  { when, iteration, round, slot, sample, data }: NumberedEvent,
  sequence: (written: WrittenSequence) => TranscriptRecord,
): Rollout {
  const { run, parts, ...others } = data as unknown as WrittenRollout;
  return {
    ...others,
    key: { run, when: when!, iteration: iteration!, round: round!, slot: slot!, sample: sample! },
    parts: parts.map((part) =>
      Object.assign({}, part, { sequences: part.sequences.map(sequence) }),
    ),
  };
}

const zeros = (length: number): number[] => Array.from({ length }, () => 0);
