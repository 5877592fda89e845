import type { Verdict } from '../core/environment.ts';
import type { EpisodeView } from '../core/reward.ts';

/** A reward added to the environment's own. */
export interface WeightedReward {
  readonly name: string;
  readonly weight: number;
  /** `undefined` when the reward does not apply to the episode. */
  readonly score: (episode: EpisodeView) => number | undefined | Promise<number | undefined>;
}

export interface CombineOptions {
  readonly rewards: readonly WeightedReward[];
  readonly invalidCalls: number;
  readonly invalidCallPenalty: number;
}

export interface CombinedReward {
  /** Absent when the verdict's is. */
  readonly reward: number | undefined;
  /** The parts as they were added, by name. */
  readonly components: Readonly<Record<string, number>>;
}

/**
 * The reward of an episode: the environment's, plus each weighted reward that applies, minus the penalty of each
 * invalid call.
 *
 * @throws RangeError when a part is not a finite number.
 */
export async function combineRewards(
  episode: EpisodeView,
  { rewards, invalidCalls, invalidCallPenalty }: CombineOptions,
): Promise<CombinedReward> {
  const { verdict } = episode;
  if (verdict.reward === undefined) return { reward: undefined, components: verdict.components };
  let reward = finite('environment', verdict.reward);
  const components: Record<string, number> = { ...verdict.components };
  const add = (name: string, value: number): void => {
    const before = Object.hasOwn(components, name) ? (components[name] ?? 0) : 0;
    components[name] = before + finite(name, value);
    reward += value;
  };
  for (const { name, weight, score } of rewards) {
    const value = await score(episode);
    if (value !== undefined) add(name, weight * value);
  }
  if (invalidCalls > 0 && invalidCallPenalty !== 0) {
    add('invalidCalls', -invalidCallPenalty * invalidCalls);
  }
  return { reward, components };
}

function finite(name: string, value: Verdict['reward']): number {
  if (value !== undefined && Number.isFinite(value)) return value;
  throw new RangeError(`Reward "${name}" must be a finite number or undefined; got ${value}.`);
}
