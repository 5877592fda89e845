/** One row of a dataset. What else it holds is the environment's business. */
export interface Task {
  /** Unique in its file. Groups, seeds and records are keyed by it. */
  readonly taskId: string;
  readonly prompt: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The environment it is for, by its name in the run file, where a run has several. */
  readonly environment?: string | undefined;
}
