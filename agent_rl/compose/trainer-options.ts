import { type Config, rewardName } from '../config/index.ts';
import { environmentScore } from '../rollout/combine-rewards.ts';
import type { RewardCombination } from '../trainer/group-rewards.ts';
import type { GrpoOptions } from '../trainer/training-options.ts';

/** The part of a config that the trainer follows. */
export function trainerOptions(config: Config): GrpoOptions {
  const { policy, rollout, algorithm, train, checkpoint } = config;
  return {
    seed: config.run.seed,
    combination: combinationOf(config),
    rollout: { ...rollout, maxTurnTokens: policy.maxTurnTokens, sampling: policy.sampling },
    algorithm,
    train,
    eval: config.eval,
    checkpoint,
  };
}

/** Nothing for a scheme that needs no group: the rollout has summed the rewards already. */
function combinationOf({ algorithm, rewards }: Config): RewardCombination | undefined {
  const { rewardScheme: scheme, environmentWeight } = algorithm;
  if (scheme === 'weighted') return undefined;
  const terms = [
    { name: environmentScore, weight: environmentWeight },
    ...rewards.map((reward) => ({ name: rewardName(reward), weight: reward.weight })),
  ];
  return { scheme, terms: terms.filter(({ weight }) => weight !== 0) };
}
