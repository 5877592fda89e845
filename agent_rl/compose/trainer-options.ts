import type { Config } from '../config/index.ts';
import type { GrpoOptions } from '../trainer/training-options.ts';

/** The part of a config that the trainer follows. */
export function trainerOptions(config: Config): GrpoOptions {
  const { policy, rollout, algorithm, train, checkpoint } = config;
  return {
    seed: config.run.seed,
    rollout: { ...rollout, maxTurnTokens: policy.maxTurnTokens, sampling: policy.sampling },
    algorithm,
    train,
    eval: config.eval,
    checkpoint,
  };
}
