import type { Rollout, RolloutTime } from './rollout.ts';

/** A session of a run: from its start or a resume to its end. */
export interface TrackedRun {
  readonly name: string;
  /** Of the run. Absolute. */
  readonly folder: string;
  /** Reinforcement learning, or supervised. */
  readonly mode: 'rl' | 'sft';
  /** The run file with every default, paths absolute, values of secret environment variables hidden. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly resumed: boolean;
  /**
   * Whole iterations that a resumed session goes on from: discard what is recorded of later ones, they are done again.
   * Absent in a new run, and in one that begins again because it had no checkpoint: then discard everything.
   */
  readonly from?: number | undefined;
}

/** Numbers by name. What was not measured is absent. */
export type TrackedMetrics = Readonly<Record<string, number>>;

/** When an evaluation is made; `selection` is that of the tasks the best checkpoint is chosen by. */
export type EvaluationTime = Exclude<RolloutTime, 'train' | 'eval'>;

export type CheckpointReason = 'periodic' | 'best' | 'interrupted' | 'failed' | 'last';

/** The part of the stream that trackers are told. The type parameters are what the other subscribers see besides. */
export type ReportedEvent<Iterated = unknown, Evaluated = unknown> =
  /** Always the first. */
  | { readonly type: 'start'; readonly run: TrackedRun }
  /** An iteration is whole, counted from 1: its line of `metrics.jsonl`, which has the evaluations made after it. */
  | ({
      readonly type: 'iteration';
      readonly iteration: number;
      readonly metrics: TrackedMetrics;
    } & Iterated)
  /**
   * An evaluation after this many iterations. One `during` training, or `selection`, comes before its iteration. `after`
   * is made again by a resume from there.
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
  /** What `summary.json` holds; not of a session that fails. */
  | { readonly type: 'summary'; readonly summary: Readonly<Record<string, unknown>> }
  /** The last. */
  | { readonly type: 'end'; readonly status: 'finished' | 'interrupted' | 'failed' };

/** A checkpoint on disk. */
export interface WrittenCheckpoint {
  /** Folder. Absolute. */
  readonly path: string;
  readonly weightsSha256: string;
}

/** What a run does now, and so waits for. */
export type Phase =
  | {
      readonly name: 'collect';
      /** Planned: groups that are played again come on top. */ readonly episodes: number;
    }
  | { readonly name: 'evaluate'; readonly when: EvaluationTime; readonly episodes: number }
  | { readonly name: 'update' | 'publish' | 'checkpoint' };

/** What happens in a run, as it happens. `Evaluation` and `Learned` are the trainer's. */
export type RunEvent<Evaluation = unknown, Learned = unknown> =
  /** `learned`: the parts of its rollouts, and what the update made of each. */
  | ReportedEvent<{ readonly learned: readonly Learned[] }, { readonly evaluation: Evaluation }>
  /** It begins to do something else, after this many iterations. */
  | ({ readonly type: 'phase'; readonly iteration: number } & Phase)
  /** A training episode has ended. */
  | { readonly type: 'rollout'; readonly rollout: Rollout }
  /** The same of an evaluation, which has this many. */
  | { readonly type: 'evaluation-rollout'; readonly rollout: Rollout; readonly episodes: number }
  /**
   * After a failure, what was done since the newest checkpoint is lost: the weights had moved and the iteration was not
   * whole, or its checkpoint could not be written because of this problem.
   */
  | { readonly type: 'state-lost'; readonly problem?: unknown };
