import { isRecord } from '../../../core/is-record.ts';
import { type IterationMetrics, readMetrics } from '../../../runs/read-metrics.ts';
import { type RecordedRun, recordedRun } from '../../../runs/recorded-run.ts';
import type { RunInputs } from '../../../runs/inputs/run-inputs.ts';
import { checkSummary, type StoredSummary } from './check-summary.ts';
import { type ChosenEpisodes, chooseEpisodes } from './chosen-episodes.ts';
import { type LogExcerpt, readLogExcerpt } from './log-excerpt.ts';
import { type RecordedEvaluation, recordedEvaluations } from './recorded-evaluations.ts';

/** All that a report says of a run. */
export interface ReportedRun extends Pick<RecordedRun, 'folder' | 'config'> {
  inputs: Partial<RunInputs> | undefined;
  /** Absent until the run has ended, and of one that failed. */
  summary: StoredSummary | undefined;
  metrics: readonly IterationMetrics[];
  episodes: ChosenEpisodes | undefined;
  /** Of a run without a summary: what it recorded of evaluations. */
  evaluations: readonly RecordedEvaluation[];
  log: LogExcerpt;
}

/** @throws AgentRlError `CHECKPOINT_INVALID` for a folder that is no run's or a summary of another shape, `DATASET_INVALID` for a line that cannot be read */
export async function readReportedRun(run: string): Promise<ReportedRun> {
  const { folder, config, inputs, summary: stored } = recordedRun(run);
  const summary = checkSummary(folder.summary, stored);
  return {
    folder,
    config,
    inputs,
    summary,
    metrics: await readMetrics(folder),
    episodes: await chooseEpisodes(folder),
    evaluations: summary === undefined ? await recordedEvaluations(folder) : [],
    log: await readLogExcerpt(folder.log),
  };
}

/** A setting of a run by its path; `undefined` where it has none. */
export const settingOf = ({ config }: Pick<ReportedRun, 'config'>, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), config);

export const isSupervised = (run: Pick<ReportedRun, 'config'>): boolean =>
  settingOf(run, 'train.mode') === 'sft';

/** Iterations done, as far as they are recorded. */
export const iterationsOf = ({ metrics, summary }: ReportedRun): number =>
  summary?.iterations ?? metrics.at(-1)?.iteration ?? 0;
