import { type IterationMetrics, readMetrics } from '../../../runs/query/metrics.ts';
import { type RecordedRun, recordedRun } from '../../../runs/query/recorded-run.ts';
import {
  type ChosenEpisodes,
  chooseEpisodes,
  type RecordedEvaluation,
  recordedEvaluations,
} from './chosen-episodes.ts';
import { type LogExcerpt, readLogExcerpt } from './log-excerpt.ts';

/** All that a report says of a run. */
export interface ReportedRun extends RecordedRun {
  metrics: readonly IterationMetrics[];
  episodes: ChosenEpisodes | undefined;
  /** Of a run without a summary: what it recorded of evaluations. */
  evaluations: readonly RecordedEvaluation[];
  log: LogExcerpt;
}

/** @throws AgentRlError `CHECKPOINT_INVALID` for a folder that is no run's or a summary of another shape, `DATASET_INVALID` for a line that cannot be read */
export async function readReportedRun(path: string): Promise<ReportedRun> {
  const run = recordedRun(path);
  const { folder, summary } = run;
  return {
    ...run,
    metrics: await readMetrics(folder),
    episodes: await chooseEpisodes(folder),
    evaluations: summary === undefined ? await recordedEvaluations(folder) : [],
    log: await readLogExcerpt(folder.log),
  };
}

/** Iterations done, as far as they are recorded. */
export const iterationsOf = ({ metrics, summary }: ReportedRun): number =>
  summary?.iterations ?? metrics.at(-1)?.iteration ?? 0;
