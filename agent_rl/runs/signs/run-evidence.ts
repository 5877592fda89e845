import { existsSync } from 'node:fs';

import { batchesOf, type RecordedPart } from '../query/parts.ts';
import { Unreadable } from '../episodes/read-lines.ts';
import { readMetrics } from '../query/metrics.ts';
import type { RecordedRun } from '../query/recorded-run.ts';
import { EpisodeCounts, type EpisodeTally } from './episode-counts.ts';
import type { RunSettings } from '../query/run-settings.ts';
import { Series } from '../query/series.ts';

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
  episodes?: EpisodeTally | undefined;
  /** Whether the run has ended with a summary. */
  hasSummary: boolean;
  /** Absent where it has none, or was not evaluated both times. */
  heldOut?: HeldOut | undefined;
  /** Weights that are trained; absent where the run has not ended. */
  trainedParameters?: number | undefined;
  /** Whether the policy has tools. */
  tools: boolean;
  /** Where the user writes the instructions of the policy, in the words of a sentence. */
  prompt: string;
}

/** What was recorded of a run, and what of it cannot be read. */
export interface RecordedEvidence extends RunEvidence {
  /** Lines of metrics, and of what was learned, that are left out. */
  unreadable: Unreadable;
}

/** Reads a run, whether it has ended or not. */
export async function runEvidence(
  { folder, settings, summary }: RecordedRun,
  prompt: string,
): Promise<RecordedEvidence> {
  const unreadable = new Unreadable();
  const series = new Series(await readMetrics(folder, unreadable));
  const parts = batchesOf(folder, { file: 'train', unreadable });
  return {
    settings,
    series,
    episodes: existsSync(folder.journal) ? await tallyEpisodes(parts) : undefined,
    unreadable,
    hasSummary: summary !== undefined,
    heldOut: heldOutOf(summary),
    trainedParameters: summary?.trainedParameters,
    tools: settings.list('tools').length > 0,
    prompt,
  };
}

/** Reads all episodes and holds the episodes of one iteration. */
export async function tallyEpisodes(
  batches: AsyncIterable<readonly RecordedPart[]>,
): Promise<EpisodeTally> {
  const counts = new EpisodeCounts();
  for await (const parts of batches) for (const part of parts) counts.note(part);
  return counts.tally();
}

function heldOutOf(summary: RecordedRun['summary']): HeldOut | undefined {
  const { before, after, difference } = summary?.eval ?? {};
  const [first = null, last = null] = [before?.successRate, after?.successRate];
  if (first === null || last === null) return undefined;
  const { interval95 = null } = difference ?? {};
  return { before: first, after: last, interval: interval95 && [interval95.low, interval95.high] };
}
