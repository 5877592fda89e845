import type { Aggregation } from '../algorithms/token-weights.ts';
import type { KlKind } from '../core/services/learner.ts';
import type { Sampling } from '../core/services/sampling.ts';
import type { RewardCombination } from './collect/group-rewards.ts';

/** How episodes are collected. */
export interface RolloutOptions {
  readonly tasksPerStep: number;
  readonly groupSize: number;
  readonly maxTurns: number;
  readonly maxTurnTokens: number;
  readonly maxEpisodeTokens: number;
  readonly resampleZeroVariance: { readonly enabled: boolean; readonly cap: number };
  readonly sampling: Sampling;
}

/** From rewards to a loss. */
export interface AlgorithmOptions {
  readonly advantageStd: 'sample' | 'population' | 'none';
  readonly advantageEps: number;
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly kl: { readonly kind: KlKind; readonly weight: number };
  readonly aggregation: Aggregation;
  /** Passes over one collection, one optimiser step each. */
  readonly epochs: number;
  readonly microBatchTokens: number;
  /** Whether episodes that ran out of tokens or turns are trained on. */
  readonly truncated: 'train' | 'drop';
}

/** The optimiser and how long it runs. */
export interface TrainOptions {
  /** Iterations after which the run ends. */
  readonly iterations: number;
  /** In supervised training, what tokens that the assistant did not say weigh in the loss; 0 by default. */
  readonly contextWeight?: number;
  /** What the schedule is made for, when the run ends before; otherwise `iterations`. */
  readonly plannedIterations?: number;
  readonly learningRate: number;
  readonly warmupSteps: number;
  readonly schedule: 'constant' | 'cosine';
  readonly finalRatio: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly eps: number;
  readonly weightDecay: number;
  /** 0 is off. */
  readonly maxGradNorm: number;
  /** `shuffled-rewards` deals the rewards of an iteration out at random: a run that must not learn. */
  readonly control?: 'none' | 'shuffled-rewards';
  /** Largest disagreement between generator and learner, nats. */
  readonly parityBound: { readonly max: number; readonly mean: number };
}

/** When and how held-out tasks are attempted. */
export interface EvalOptions {
  readonly before: boolean;
  readonly after: boolean;
  /** Iterations between evaluations; 0 is never. */
  readonly every: number;
  readonly samples: number;
  readonly temperature: number;
}

export interface CheckpointOptions {
  /** Iterations between checkpoints; 0 keeps only the last. */
  readonly every: number;
  readonly keepBest: boolean;
}

export interface GrpoOptions {
  readonly seed: number;
  /** Absent where the reward of an episode does not depend on its group. */
  readonly combination?: RewardCombination | undefined;
  readonly rollout: RolloutOptions;
  readonly algorithm: AlgorithmOptions;
  readonly train: TrainOptions;
  readonly eval: EvalOptions;
  readonly checkpoint: CheckpointOptions;
}
