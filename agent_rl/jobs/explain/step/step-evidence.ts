import type { TrainedEpisode } from '../../../runs/episodes/read-trained-episodes.ts';
import { readTrainedEpisodes } from '../../../runs/episodes/read-trained-episodes.ts';
import { Unreadable } from '../../../runs/episodes/unreadable.ts';
import { type IterationMetrics, readMetrics } from '../../../runs/read-metrics.ts';
import { AgentRlError } from '../../../core/errors.ts';
import type { RecordedRun } from '../../../runs/recorded-run.ts';

/** What is recorded of one iteration. */
export interface StepEvidence {
  step: IterationMetrics;
  /** Up to five iterations before it and five after it, without it. */
  around: readonly IterationMetrics[];
  /** Those of agents that do not learn among them. */
  episodes: readonly TrainedEpisode[];
  /** Lines of metrics, and of what was learned up to this iteration, that are left out. */
  unreadable: Unreadable;
}

const neighbours = 5;

/** @throws AgentRlError `CONFIG_INVALID` when the run has no such iteration */
export async function stepEvidence(
  { folder }: Pick<RecordedRun, 'folder'>,
  iteration: number,
): Promise<StepEvidence> {
  const unreadable = new Unreadable();
  const all = await readMetrics(folder, unreadable);
  const step = all.find((one) => one.iteration === iteration);
  if (step === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${folder.path} has no iteration ${iteration}. ${all.length === 0 ? 'It has none yet' : `It has ${all[0]?.iteration} to ${all.at(-1)?.iteration}`}.`,
    );
  const episodes: TrainedEpisode[] = [];
  for await (const one of readTrainedEpisodes(folder, unreadable)) {
    if (one.episode.iteration > iteration) break;
    if (one.episode.iteration === iteration) episodes.push(one);
  }
  const around = all.filter((one) => {
    const distance = Math.abs(one.iteration - iteration);
    return distance > 0 && distance <= neighbours;
  });
  return { step, around, episodes, unreadable };
}
