import type { JobContext } from '../job.ts';
import type { LocalSandboxType } from '../machine/local-sandbox-type.ts';

export interface VerifyDatasetOptions extends JobContext {
  /** A file of JSONL, CSV, TSV, a JSON list or Parquet, by its ending. */
  dataset: string;
  /** As `datasets[].format` of a run file. Default `code`. */
  format?: string;
  /** As `datasets[].columns` of a run file: the column of each field that has another name. */
  columns?: Readonly<Record<string, string>>;
  /** As `datasets[].answerPattern` of a run file. */
  answerPattern?: string;
  /** Of search tasks: JSONL file of the documents they name by id. */
  documents?: string | undefined;
  /** Of code tasks: where reference solutions run. Default `auto`. */
  sandboxType?: LocalSandboxType;
  /** Of code tasks: the Python of the native sandbox. */
  sandboxPython?: string;
  /** Of code tasks: whether to look for those that reward a constant answer. Default false. */
  degenerate?: boolean;
  /** Of code tasks: programs run at once. */
  sandboxWorkers?: number;
}
