import type { PreparedRun } from '../compose/prepare-run.ts';
import type { AgentRlError } from '../core/errors.ts';
import type { Subscriber } from '../trainer/trainer-contracts.ts';

/** What every job is given. */
export interface JobContext {
  /** Aborted by Ctrl-C: end at the next safe place, with a checkpoint. */
  signal: AbortSignal;
  /** Shows a result to the user. Progress and logs go elsewhere. */
  print: (text: string) => void;
  /** Only warnings, errors and results are shown: neither progress nor what is looked at before the work begins. */
  quiet?: boolean | undefined;
  /** Told when the main thread was blocked for too long, where the process is another program's: without it the process is killed. */
  onStall?: ((problem: AgentRlError) => void) | undefined;
}

/** What a job on a run file is given. */
export interface JobOptions extends PreparedRun, JobContext {}

/** What a job found, as `--json` prints it. */
export type JobResult = Readonly<Record<string, unknown>>;

/** A result that says whether all was well. */
export interface CheckResult extends JobResult {
  ok: boolean;
}

export interface TrainingOptions extends JobOptions {
  /** Folder of the run to resume; `newest` takes the newest run of this config's output folder. */
  resume?: string | undefined;
  /** Resumes with other engine threads or on another device anyway. */
  allowOtherMachine?: boolean;
  /** Only prints the resolved plan. */
  dryRun: boolean;
  /** Of a dry run: measures how fast this machine is, and guesses how long the run will take. */
  measure?: boolean;
  /** Writes what each thread did to `profile.json` of the run. */
  profile?: boolean;
  /** Receives the events of a run. Must not throw. */
  onEvent?: Subscriber | undefined;
}
