import { combineGroupRewards, type GroupScheme } from '../../algorithms/combine-group-rewards.ts';
import { type JudgedGroup, rewardManager } from '../../core/plugins/reward-manager.ts';

/** The weighted sum of each episode, whatever its siblings did. */
export const weighted = rewardManager({
  name: 'weighted',
  description: "Weighted sum of an episode's rewards",
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

export const uniform = combining('uniform', "Mean of an episode's rewards");

export const std = combining('std', 'Weights each reward by its deviation in the group');

export const pca = combining(
  'pca',
  'Weights the standardised rewards by the first principal direction of the group',
);

export const l2 = combining(
  'l2',
  'Euclidean norm of the rewards; the squares of negative rewards are subtracted',
);

export const normalised = combining(
  'normalised',
  'Standardises each reward in the group, then adds them by weight (GDPO)',
);
