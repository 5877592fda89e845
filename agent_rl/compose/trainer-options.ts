import { type Config, runLength } from '../config/index.ts';
import type { GrpoOptions, TrainOptions } from '../trainer/training-options.ts';

/** The part of a config that the trainer follows. */
export function trainerOptions(config: Config): GrpoOptions {
  const { policy, rollout, algorithm, checkpoint } = config;
  return {
    seed: config.run.seed,
    rollout: { ...rollout, maxTurnTokens: policy.maxTurnTokens, sampling: policy.sampling },
    algorithm,
    train: trainOptions(config),
    eval: config.eval,
    checkpoint,
  };
}

/** `train:` with the length of this run, and that of the whole it may be the beginning of. */
export function trainOptions(config: Config): TrainOptions {
  const { last, planned } = runLength(config);
  return { ...config.train, iterations: last, plannedIterations: planned };
}
