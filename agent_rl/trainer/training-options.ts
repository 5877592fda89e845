import type { KlInReward } from '../algorithms/kl-in-reward.ts';
import type { Config } from '../config/index.ts';
import type { AdvantageGroup, RewardGroup, TurnGroup } from '../core/algorithm/advantage.ts';
import type { CorrectionTokens } from '../core/algorithm/correction.ts';
import type { Selection, SelectionGroup } from '../core/algorithm/selection.ts';
import type { PolicyLossSpec } from '../core/services/learner.ts';
import type { Sampling } from '../core/services/generator.ts';

/** How episodes are collected. */
export type RolloutOptions = Pick<
  Config['rollout'],
  'tasksPerStep' | 'groupSize' | 'maxTurns' | 'maxEpisodeTokens' | 'outcomes' | 'failures'
> &
  Pick<Config['policy'], 'maxTurnTokens'> & { sampling: Sampling };

/** Most tokens that an agent may sample in an episode. */
export const mostSampledTokens = ({
  maxTurns,
  maxTurnTokens,
  maxEpisodeTokens,
}: Pick<RolloutOptions, 'maxTurns' | 'maxTurnTokens' | 'maxEpisodeTokens'>): number =>
  Math.min(maxTurns * maxTurnTokens, maxEpisodeTokens);

/** The parts of an algorithm, each with its settings. */
export interface AlgorithmParts {
  advantage: {
    /** For messages. */
    name: string;
    /** Of all groups of a collection together. */
    of: (groups: readonly RewardGroup[], turns: readonly TurnGroup[]) => readonly AdvantageGroup[];
  };
  loss: Pick<PolicyLossSpec, 'type' | 'settings' | 'module'>;
  selection: { name: string; of: (group: SelectionGroup) => Selection };
  /** Absent where nothing is corrected. */
  correction:
    | {
        name: string;
        /** The factors of one sequence's tokens. */
        of: (tokens: CorrectionTokens) => ArrayLike<number>;
      }
    | undefined;
}

/** From rewards to a loss. */
export type AlgorithmOptions = Omit<
  Config['algorithm'],
  'name' | 'environmentWeight' | 'kl' | 'distill' | keyof AlgorithmParts
> &
  AlgorithmParts & {
    /** In the loss. */
    kl: PolicyLossSpec['kl'];
    /** Absent without a teacher and without a hint. */
    distill?: Omit<Config['algorithm']['distill'], 'teacher'> | undefined;
    /** Taken off rewards. */
    klInReward?: KlInReward | undefined;
  };

/** The optimiser and how long it runs. */
export type TrainOptions = Omit<
  Config['train'],
  'mode' | 'maxIterations' | 'batchSize' | 'recompute' | 'prefixTrees' | 'contextWeight' | 'control'
> &
  Partial<Pick<Config['train'], 'contextWeight' | 'control'>> & {
    /** What the schedule is made for, when the run ends before; otherwise `iterations`. */
    plannedIterations?: number | undefined;
  };

/** When and how held-out tasks are attempted. */
export type EvalOptions = Omit<Config['eval'], 'maxTasks' | 'selectionTasks'>;

export type CheckpointOptions = Pick<Config['checkpoint'], 'every' | 'keepBest'>;

export interface GrpoOptions {
  /** Name of the run, in the keys of its rollouts. */
  run: string;
  seed: number;
  /** Iterations by which the weights that play are behind, 0 or 1. */
  lag: number;
  rollout: RolloutOptions;
  algorithm: AlgorithmOptions;
  train: TrainOptions;
  eval: EvalOptions;
  checkpoint: CheckpointOptions;
}
