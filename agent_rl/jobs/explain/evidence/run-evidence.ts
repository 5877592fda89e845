import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { builtinPlugins } from '../../../compose/plugins/builtin-plugins.ts';
import { hasSetting } from '../../../compose/has-setting.ts';
import { isRecord } from '../../../core/is-record.ts';
import { readTrainedEpisodes } from '../../../runs/episodes/read-trained-episodes.ts';
import { Unreadable } from '../../../runs/episodes/unreadable.ts';
import { readMetrics } from '../../../runs/read-metrics.ts';
import type { RecordedRun } from '../../../runs/recorded-run.ts';
import { RunSettings } from './run-settings.ts';
import { Series } from './series.ts';
import { type EpisodeTally, tallyEpisodes } from './tally-episodes.ts';

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
  /** Lines of metrics, and of what was learned, that are left out. */
  unreadable: Unreadable;
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

/** Reads a run, whether it has ended or not. */
export async function runEvidence({ folder, config, summary }: RecordedRun): Promise<RunEvidence> {
  const settings = new RunSettings(config);
  const unreadable = new Unreadable();
  const series = new Series(await readMetrics(folder, unreadable));
  const recorded = existsSync(join(folder.trajectories, 'train.jsonl'));
  const heldOut = heldOutOf(summary);
  const trained = summary?.['trainedParameters'];
  return {
    settings,
    series,
    ...(recorded && { episodes: await tallyEpisodes(readTrainedEpisodes(folder, unreadable)) }),
    unreadable,
    hasSummary: summary !== undefined,
    ...(heldOut && { heldOut }),
    ...(typeof trained === 'number' && { trainedParameters: trained }),
    tools: settings.list('tools').length > 0,
    prompt: promptOf(settings),
  };
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

/** A system prompt is a setting of some environments; of one of the user's own, its code says. */
function promptOf(settings: RunSettings): string {
  const type = settings.at('environment.type');
  const known = builtinPlugins()
    .environments.entries()
    .find(({ spec }) => spec.name === type);
  return known !== undefined && hasSetting(known.spec, 'systemPrompt')
    ? `in the prompt, ${settings.now('environment.systemPrompt')}`
    : 'in the prompt of the tasks';
}
