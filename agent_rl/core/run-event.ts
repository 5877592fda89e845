import type { Rollout, RolloutTime } from './rollout.ts';

/** A session of a run: from its start or a resume to its end. */
export interface TrackedRun {
  readonly name: string;
  /** Of the run. Absolute. */
  readonly folder: string;
  /** Reinforcement learning, or supervised. */
  readonly mode: 'rl' | 'sft';
  /** The run file with every default, absolute paths, and hidden values of secret environment variables. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly resumed: boolean;
  /**
   * Completed iterations from which a resumed session continues: discard records of later ones, they will be replayed.
   * Absent in a new run, and in a run that restarts without a checkpoint: then discard everything.
   */
  readonly from?: number | undefined;
}

/** Numbers by name. What was not measured is absent. */
export type TrackedMetrics = Readonly<Record<string, number>>;

/** When an evaluation is made; `selection` evaluates the tasks that choose the best checkpoint. */
export type EvaluationTime = Exclude<RolloutTime, 'train' | 'eval'>;

export type CheckpointReason = 'periodic' | 'best' | 'interrupted' | 'failed' | 'last';

/** The events that trackers receive. The type parameters are what other subscribers see in addition. */
export type ReportedEvent<Iterated = unknown, Evaluated = unknown> =
  /** Always the first. */
  | { readonly type: 'start'; readonly run: TrackedRun }
  /** A completed iteration, counted from 1: its line of `metrics.jsonl`, including the evaluations after it. */
  | ({
      readonly type: 'iteration';
      readonly iteration: number;
      readonly metrics: TrackedMetrics;
    } & Iterated)
  /**
   * An evaluation after this many iterations. One `during` training, or `selection`, comes before its iteration. A
   * resume from there repeats `after`.
   */
  | ({
      readonly type: 'evaluation';
      readonly when: EvaluationTime;
      readonly iteration: number;
      readonly metrics: TrackedMetrics;
    } & Evaluated)
  /** A checkpoint is written. */
  | ({
      readonly type: 'checkpoint';
      readonly reason: CheckpointReason;
      readonly iteration: number;
    } & WrittenCheckpoint)
  /** The contents of `summary.json`; not sent by a failed session. */
  | { readonly type: 'summary'; readonly summary: Readonly<Record<string, unknown>> }
  /** The last. */
  | { readonly type: 'end'; readonly status: 'finished' | 'interrupted' | 'failed' };

/** A checkpoint on disk. */
export interface WrittenCheckpoint {
  /** Folder. Absolute. */
  readonly path: string;
  readonly weightsSha256: string;
}

/** The current activity of a run. */
export type Phase =
  | {
      readonly name: 'collect';
      /** Planned number, without resampled groups. */ readonly episodes: number;
    }
  | { readonly name: 'evaluate'; readonly when: EvaluationTime; readonly episodes: number }
  | { readonly name: 'update' | 'publish' | 'checkpoint' };

/** What happens in a run, as it happens. `Evaluation` and `Learned` are the trainer's. */
export type RunEvent<Evaluation = unknown, Learned = unknown> =
  /** `learned`: the parts of its rollouts, and the result of the update for each. */
  | ReportedEvent<{ readonly learned: readonly Learned[] }, { readonly evaluation: Evaluation }>
  /** A new activity begins, after this many iterations. */
  | ({ readonly type: 'phase'; readonly iteration: number } & Phase)
  /** A training episode has ended. */
  | { readonly type: 'rollout'; readonly rollout: Rollout }
  /** An evaluation episode has ended, out of this many. */
  | { readonly type: 'evaluation-rollout'; readonly rollout: Rollout; readonly episodes: number }
  /**
   * After a failure, the work since the newest checkpoint is lost: the weights had changed in an incomplete iteration,
   * or the checkpoint could not be written because of this problem.
   */
  | { readonly type: 'state-lost'; readonly problem?: unknown };
