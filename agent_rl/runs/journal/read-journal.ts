import { messageOf } from '../../core/errors.ts';
import { groupBy } from '../../core/long-lists.ts';
import { keyText, type Member, membersOf, type Rollout } from '../../core/rollout.ts';
import type { Verdict } from '../../core/plugins/environment.ts';
import { noVerdict } from '../../rollout/judged.ts';
import type { LearnedRecord } from '../episodes/learned-record.ts';
import { type EpisodeRecord, episodeRecord } from '../episodes/episode-record.ts';
import type { NumberedEvent } from './event-frame.ts';
import { eventsInOrder, type JournalQuery } from './events-in-order.ts';
import { learnedOf, type Regrouped } from './learned-event.ts';
import { rolloutOf } from './rollout-event.ts';

/** A rollout as it was played, with what is recorded of its agents by name. */
export interface RecordedRollout {
  rollout: Rollout;
  verdicts: Readonly<Record<string, Verdict>>;
  learned: ReadonlyMap<string, LearnedRecord & Regrouped>;
}

/** One agent's part in a rollout, and what the update made of it. */
export interface JournalPart {
  episode: EpisodeRecord;
  learned: LearnedRecord | undefined;
}

/**
 * Reads the rollouts of a run, one iteration or evaluation at a time, in the order of their keys. What a resumed session
 * made again is given once.
 *
 * @yields the rollouts of one iteration or evaluation
 */
export async function* readRollouts(
  folder: string,
  query: JournalQuery,
): AsyncGenerator<RecordedRollout[]> {
  for await (const { events } of eventsInOrder(folder, query)) {
    const played = events.filter(({ sample }) => sample !== undefined);
    const byRollout = groupBy(played, (event) => keyText(event as Required<NumberedEvent>));
    const rollouts = [...byRollout].flatMap(([name, own]) => recorded(name, own, query));
    if (rollouts.length > 0) yield rollouts;
  }
}

function recorded(
  name: string,
  events: readonly NumberedEvent[],
  { damaged }: JournalQuery,
): RecordedRollout[] {
  const ended = events.find(({ type }) => type === 'rollout');
  if (ended === undefined) return [];
  const verdict = events.findLast(({ type }) => type === 'verdict');
  const verdicts = (verdict?.data?.['verdicts'] ?? {}) as RecordedRollout['verdicts'];
  const learned = events.filter(({ type }) => type === 'learned');
  try {
    return [
      {
        rollout: rolloutWith(ended, events),
        verdicts,
        learned: new Map(learned.map((event) => [event.agent!, learnedOf(event)])),
      },
    ];
  } catch (thrown) {
    damaged(`event ${ended.seq}, rollout ${name}: ${messageOf(thrown)}`);
    return [];
  }
}

/**
 * The same, part by part.
 *
 * @yields the parts of one iteration or evaluation
 */
export async function* readParts(
  folder: string,
  query: JournalQuery,
): AsyncGenerator<JournalPart[]> {
  for await (const rollouts of readRollouts(folder, query))
    yield rollouts.flatMap(({ rollout, learned: all }) =>
      membersOf(rollout).map((member) => {
        const learned = all.get(member.part.agent);
        return { episode: episodeRecord(regrouped(member, learned)), learned };
      }),
    );
}

/** The rollout of an event, with the events of what was drawn in it among others. @throws Error where one is missing */
export function rolloutWith(event: NumberedEvent, others: readonly NumberedEvent[]): Rollout {
  const bySeq = new Map(others.map((one) => [one.seq, one]));
  return rolloutOf(event, (seq) => {
    const { tokens, columns } = bySeq.get(seq) ?? {};
    return tokens && { tokens, logProbs: columns?.logProbs ?? new Float32Array() };
  });
}

/** A part as its group's reward manager left it. */
export function regrouped({ rollout, part }: Member, learned: Regrouped | undefined): Member {
  if (learned === undefined) return { rollout, part };
  const { groupReward, unjudged } = learned;
  if (unjudged === undefined) return { rollout, part: { ...part, groupReward } };
  return { rollout, part: { ...part, ...noVerdict, outcome: 'grader-error', unjudged } };
}
