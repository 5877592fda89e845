import type { Aggregation } from '../algorithms/token-weights.ts';
import type { KlKind } from '../core/services/learner.ts';
import type { Sampling } from '../core/services/sampling.ts';
import type { RewardCombination } from './collect/group-rewards.ts';

/** How episodes are collected. */
export interface RolloutOptions {
  tasksPerStep: number;
  groupSize: number;
  maxTurns: number;
  maxTurnTokens: number;
  maxEpisodeTokens: number;
  resampleZeroVariance: { enabled: boolean; cap: number };
  sampling: Sampling;
}

/** From rewards to a loss. */
export interface AlgorithmOptions {
  advantageStd: 'sample' | 'population' | 'none';
  advantageEps: number;
  clipLow: number;
  clipHigh: number;
  kl: { kind: KlKind; weight: number };
  aggregation: Aggregation;
  /** Passes over one collection, one optimiser step each. */
  epochs: number;
  microBatchTokens: number;
  /** Whether episodes that ran out of tokens or turns are trained on. */
  truncated: 'train' | 'drop';
}

/** The optimiser and how long it runs. */
export interface TrainOptions {
  /** Iterations after which the run ends. */
  iterations: number;
  /** In supervised training, what tokens that the assistant did not say weigh in the loss; 0 by default. */
  contextWeight?: number;
  /** What the schedule is made for, when the run ends before; otherwise `iterations`. */
  plannedIterations?: number;
  learningRate: number;
  warmupSteps: number;
  schedule: 'constant' | 'cosine';
  finalRatio: number;
  beta1: number;
  beta2: number;
  eps: number;
  weightDecay: number;
  /** 0 is off. */
  maxGradNorm: number;
  /** `shuffled-rewards` deals the rewards of an iteration out at random: a run that must not learn. */
  control?: 'none' | 'shuffled-rewards';
  /** Largest disagreement between generator and learner, nats. */
  parityBound: { max: number; mean: number };
}

/** When and how held-out tasks are attempted. */
export interface EvalOptions {
  before: boolean;
  after: boolean;
  /** Iterations between evaluations; 0 is never. */
  every: number;
  samples: number;
  temperature: number;
}

export interface CheckpointOptions {
  /** Iterations between checkpoints; 0 keeps only the last. */
  every: number;
  keepBest: boolean;
}

export interface GrpoOptions {
  seed: number;
  /** Absent where the reward of an episode does not depend on its group. */
  combination?: RewardCombination | undefined;
  rollout: RolloutOptions;
  algorithm: AlgorithmOptions;
  train: TrainOptions;
  eval: EvalOptions;
  checkpoint: CheckpointOptions;
}
