import { combineGroupRewards, type GroupScheme } from '../../algorithms/combine-group-rewards.ts';
import { type JudgedGroup, rewardManager } from '../../core/plugins/reward-manager.ts';

/** The weighted sum of each episode, whatever its siblings did. */
export const weighted = rewardManager({
  name: 'weighted',
  description: 'Adds the rewards of an episode, each times its weight',
})(({ episodes }: JudgedGroup) => ({ rewards: episodes.map(({ reward }) => reward) }));

/** A manager that combines scores by one of the schemes of `combineGroupRewards`. */
const combining = (name: GroupScheme, description: string) =>
  rewardManager({
    name,
    description,
    needsSeveral: true,
    ignoresWeights: name !== 'normalised',
  })(({ episodes, terms }: JudgedGroup) =>
    combineGroupRewards(
      episodes.map(({ scores }) => scores),
      terms,
      name,
    ),
  );

export const uniform = combining('uniform', 'Means of the rewards of an episode');

export const std = combining('std', 'Weighs each reward by its deviation in the group');

export const pca = combining(
  'pca',
  'Weighs the standardised rewards by the first principal direction of the group',
);

export const l2 = combining('l2', 'Euclidean norm of the rewards, what is negative subtracted');

export const normalised = combining(
  'normalised',
  'Brings each reward to mean 0 and deviation 1 in the group, then adds them by weight (GDPO)',
);
