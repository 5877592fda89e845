import type { Verdict } from '../../core/plugins/environment.ts';
import { groupBy } from '../../core/long-lists.ts';
import { keyText, type Rollout, sampledTokens } from '../../core/rollout.ts';
import type { NumberedEvent } from './event-frame.ts';
import { eventsInOrder } from './events-in-order.ts';
import { rolloutWith } from './read-journal.ts';
import type { Damaged } from './segments.ts';

/** A rollout as it was played, and the verdicts on its agents by name; none where the system failed. */
export interface RecordedRollout {
  rollout: Rollout;
  verdicts: Readonly<Record<string, Verdict>>;
}

/** A complete iteration. */
export interface RecordedIteration {
  iteration: number;
  rollouts: readonly RecordedRollout[];
  /** Tokens that its update trained. */
  trainedTokens: number;
}

/**
 * Reads the rollouts that a run learned from.
 *
 * @yields an iteration
 */
export async function* recordedIterations(
  folder: string,
  damaged: Damaged,
): AsyncGenerator<RecordedIteration> {
  for await (const { name, events } of eventsInOrder(folder, damaged)) {
    const [when, iteration] = name.split(' ');
    if (when !== 'train') continue;
    const played = events.filter(({ sample }) => sample !== undefined);
    const byRollout = groupBy(played, (event) => keyText(event as Required<NumberedEvent>));
    const rollouts = [...byRollout.values()].flatMap((own) => {
      const ended = own.find(({ type }) => type === 'rollout');
      if (ended === undefined) return [];
      const drawn = own.filter(({ type }) => type === 'generation');
      const verdicts = own.findLast(({ type }) => type === 'verdict')?.data?.['verdicts'] ?? {};
      return {
        rollout: rolloutWith(ended, drawn),
        verdicts: verdicts as RecordedRollout['verdicts'],
      };
    });
    yield { iteration: Number(iteration), rollouts, trainedTokens: trainedIn(events, rollouts) };
  }
}

/** Sampled tokens of the parts whose use was `trained`. */
function trainedIn(events: readonly NumberedEvent[], rollouts: readonly RecordedRollout[]): number {
  const trained = new Set(
    events
      .filter(({ type, data }) => type === 'learned' && data?.['use'] === 'trained')
      .map((event) => `${keyText(event as Required<NumberedEvent>)} ${event.agent}`),
  );
  return rollouts
    .flatMap(({ rollout }) => rollout.parts.map((part) => ({ key: rollout.key, part })))
    .filter(({ key, part }) => trained.has(`${keyText(key)} ${part.agent}`))
    .reduce((sum, { part }) => sum + sampledTokens(part), 0);
}
