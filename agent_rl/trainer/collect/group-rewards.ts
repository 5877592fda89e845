import {
  combineGroupRewards,
  type GroupScheme,
  type RewardTerm,
  type Scores,
} from '../../algorithms/combine-group-rewards.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { invalidCallsComponent } from '../../rollout/combine-rewards.ts';

/** How the rewards of an episode become one with regard to its group. */
export interface RewardCombination {
  scheme: GroupScheme;
  /** The rewards that take part, the environment's among them. */
  terms: readonly RewardTerm[];
}

export interface GroupRewards {
  /** One per episode, in order; `undefined` where the system failed. */
  rewards: readonly (number | undefined)[];
  /** What each reward was multiplied by in this group. */
  weights?: Scores;
}

/**
 * The rewards a group is compared by: those the episodes have by themselves or, with a scheme that looks at the whole
 * group, their scores combined by it, less what each lost for invalid calls.
 */
export function groupRewards(
  trajectories: readonly Pick<Trajectory, 'reward' | 'scores' | 'components'>[],
  combination: RewardCombination | undefined,
): GroupRewards {
  if (combination === undefined) return { rewards: trajectories.map(({ reward }) => reward) };
  const scores = trajectories.map(({ reward, scores: given = {} }) =>
    reward === undefined ? undefined : given,
  );
  const { terms, scheme } = combination;
  const { rewards, weights } = combineGroupRewards(scores, terms, scheme);
  return {
    weights,
    rewards: rewards.map((reward, i) => {
      const penalty = trajectories[i]?.components[invalidCallsComponent] ?? 0;
      return reward === undefined ? undefined : reward + penalty;
    }),
  };
}
