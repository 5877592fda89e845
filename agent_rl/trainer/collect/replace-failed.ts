import type { Rollout } from '../../core/rollout.ts';
import type { EpisodeRequest } from '../../rollout/episode-parts.ts';
import type { RolloutOptions } from '../training-options.ts';
import { actionOn } from './outcome-actions.ts';

export interface ReplaceOptions {
  /** Of all tasks, as `planGroups` makes them. */
  requests: readonly EpisodeRequest[];
  rollout: Pick<RolloutOptions, 'groupSize' | 'outcomes' | 'failures'>;
  play: (requests: readonly EpisodeRequest[]) => Promise<readonly Rollout[]>;
}

/** The rollouts to learn from, and the failed ones that were replaced, in the order in which they failed. */
export type Replaced = Readonly<Record<'played' | 'replaced', readonly Rollout[]>>;

/**
 * Plays requests, and replaces failed ones with the next sample of their group if `rollout.outcomes` says so, for at
 * most `failures.retries` rounds. Which sample replaces which depends only on which ones failed.
 */
export async function replaceFailed({
  requests,
  rollout,
  play,
}: ReplaceOptions): Promise<Replaced> {
  const { groupSize, outcomes, failures } = rollout;
  const played = [...(await play(requests))];
  const replaced: Rollout[] = [];
  for (let round = 0; round < failures.retries; round++) {
    const failed = played.filter(({ parts }) =>
      parts.some(({ outcome }) => actionOn(outcome, outcomes) === 'replace'),
    );
    if (failed.length === 0) break;
    const again = failed.flatMap((one) => {
      const place = played.indexOf(one);
      const request = requests[place];
      if (request === undefined) return [];
      const { key } = request;
      const before = replaced.filter((other) => other.key.slot === key.slot);
      replaced.push(one);
      return [
        { place, request: { ...request, key: { ...key, sample: groupSize + before.length } } },
      ];
    });
    const others = await play(again.map(({ request }) => request));
    for (const [index, { place }] of again.entries()) played[place] = others[index] as Rollout;
  }
  return { played, replaced };
}
