import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { isRecord } from '../../core/is-record.ts';
import { readTrainedEpisodes, type TrainedEpisode } from '../episodes/read-trained-episodes.ts';
import { Unreadable } from '../episodes/unreadable.ts';
import { readMetrics } from '../read-metrics.ts';
import type { RecordedRun } from '../recorded-run.ts';
import { EpisodeCounts, type EpisodeTally } from './episode-counts.ts';
import { RunSettings } from '../run-settings.ts';
import { Series } from './series.ts';

/** Success before and after training, as `summary.json` has it. */
export interface HeldOut {
  before: number;
  after: number;
  /** Of the change, 95 %; `null` where it was not paired. */
  interval: readonly [low: number, high: number] | null;
}

/** All that the checks look at. */
export interface RunEvidence {
  settings: RunSettings;
  series: Series;
  /** Absent where no training episode is recorded. */
  episodes?: EpisodeTally;
  /** Whether the run has ended with a summary. */
  hasSummary: boolean;
  /** Absent where it has none, or was not evaluated both times. */
  heldOut?: HeldOut;
  /** Weights that are trained; absent where the run has not ended. */
  trainedParameters?: number;
  /** Whether the policy has tools. */
  tools: boolean;
  /** Where the user says what the policy is told, in the words of a sentence. */
  prompt: string;
}

/** What was recorded of a run, and what of it cannot be read. */
export interface RecordedEvidence extends RunEvidence {
  /** Lines of metrics, and of what was learned, that are left out. */
  unreadable: Unreadable;
}

/** Reads a run, whether it has ended or not. */
export async function runEvidence(
  { folder, config, summary }: RecordedRun,
  prompt: string,
): Promise<RecordedEvidence> {
  const settings = new RunSettings(config);
  const unreadable = new Unreadable();
  const series = new Series(await readMetrics(folder, unreadable));
  const heldOut = heldOutOf(summary);
  const trained = summary?.['trainedParameters'];
  return {
    settings,
    series,
    ...(existsSync(join(folder.trajectories, 'train.jsonl')) && {
      episodes: await tallyEpisodes(readTrainedEpisodes(folder, unreadable)),
    }),
    unreadable,
    hasSummary: summary !== undefined,
    ...(heldOut && { heldOut }),
    ...(typeof trained === 'number' && { trainedParameters: trained }),
    tools: settings.list('tools').length > 0,
    prompt,
  };
}

/** Reads all episodes and holds none of them. */
export async function tallyEpisodes(
  episodes: AsyncIterable<TrainedEpisode>,
): Promise<EpisodeTally> {
  const counts = new EpisodeCounts();
  for await (const episode of episodes) counts.note(episode);
  return counts.tally();
}

function heldOutOf(summary: RecordedRun['summary']): HeldOut | undefined {
  const evaluations = summary?.['eval'];
  if (!isRecord(evaluations)) return undefined;
  const [before, after] = [evaluations['before'], evaluations['after']].map((one) =>
    isRecord(one) ? one['successRate'] : undefined,
  );
  if (typeof before !== 'number' || typeof after !== 'number') return undefined;
  const difference = evaluations['difference'];
  const interval = isRecord(difference) ? difference['interval95'] : undefined;
  const [low, high] = isRecord(interval) ? [interval['low'], interval['high']] : [];
  const known = typeof low === 'number' && typeof high === 'number';
  return { before, after, interval: known ? [low, high] : null };
}
