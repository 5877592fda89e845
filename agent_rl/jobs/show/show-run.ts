import { AgentRlError } from '../../core/errors.ts';
import { episodesOf } from '../../core/trajectory.ts';
import {
  type EpisodeRecord,
  readEpisodes,
  runWithEpisodes,
} from '../../runs/episodes/read-episodes.ts';
import { countText } from '../../telemetry/figures.ts';
import type { JobResult } from '../job.ts';
import { episodeId, wholeEpisodeId } from '../../runs/episodes/episode-id.ts';
import { episodeLine, episodeText } from './episode-text.ts';

export interface ShowRunOptions {
  /** Folder of a run. */
  run: string;
  /** `3/sum-17/2`: iteration, task and sample; `/NAME` behind it is one of several agents. */
  episode?: string;
  /** This many of those with the lowest reward, failed ones first. */
  worst?: number;
  /** Episodes of this iteration; of the newest otherwise. */
  step?: number;
  /** Held-out episodes instead of those that were trained on. */
  heldOut?: boolean;
  /** Also what the policy could not see. */
  hidden?: boolean;
  print: (text: string) => void;
}

const mostLines = 100;

/**
 * Shows the episodes of a run: a line for each of one iteration, or some of them whole.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID` when there is no run, `CONFIG_INVALID` when it has no such episode
 */
export async function showRun(options: ShowRunOptions): Promise<JobResult> {
  const { episode, worst, heldOut = false, hidden = false, print } = options;
  const folder = runWithEpisodes(options.run);
  const chosen = await choose(readEpisodes(folder, heldOut ? 'eval' : 'train'), options);
  if (chosen.length === 0) throw noneFound(folder.path, options);
  if (episode !== undefined || worst !== undefined) {
    print(chosen.map((one) => episodeText(one, { hidden })).join('\n\n'));
  } else {
    const shown = chosen.slice(0, mostLines).map(episodeLine);
    const rest = chosen.length - shown.length;
    print(headOf(chosen, options));
    print([...shown, ...(rest > 0 ? [`${rest} more`] : [])].join('\n'));
    print(
      'Show one with --episode ID, the worst with --worst, those of another iteration with --step N.',
    );
  }
  return { episodes: chosen.map(episodeId) };
}

function headOf(
  chosen: readonly EpisodeRecord[],
  { step, heldOut = false }: ShowRunOptions,
): string {
  const newest = step === undefined ? ', the newest' : '';
  const kind = heldOut ? 'held-out' : 'training';
  const { length: episodes } = episodesOf(chosen);
  const parts = chosen.some(({ agent }) => agent !== undefined) ? ', one line for each agent' : '';
  return `Iteration ${chosen[0]?.iteration ?? '?'}${newest}: ${countText(episodes, `${kind} episode`)}${parts}`;
}

async function choose(
  episodes: AsyncIterable<EpisodeRecord>,
  { episode, worst, step }: ShowRunOptions,
): Promise<EpisodeRecord[]> {
  let chosen: EpisodeRecord[] = [];
  for await (const one of episodes) {
    if (episode !== undefined) {
      if ([episodeId(one), wholeEpisodeId(one)].includes(episode)) chosen.push(one);
      continue;
    }
    if (step !== undefined && one.iteration !== step) continue;
    // Only one iteration is held at a time.
    if (step === undefined && one.iteration !== chosen[0]?.iteration) chosen = [];
    chosen.push(one);
  }
  if (worst === undefined) return chosen;
  return chosen
    .toSorted((a, b) => Number(rank(a) > rank(b)) - Number(rank(a) < rank(b)))
    .slice(0, worst);
}

/** One that failed is worse than any that was judged. */
const rank = ({ reward }: EpisodeRecord): number => reward ?? -Infinity;

function noneFound(path: string, { episode, step, heldOut }: ShowRunOptions): AgentRlError {
  const kind = heldOut === true ? 'held-out' : 'training';
  const which =
    episode !== undefined
      ? ` "${episode}"; an id is ITERATION/TASK/SAMPLE, as agent-rl runs show ${path} lists them`
      : step === undefined
        ? ''
        : ` of iteration ${step}`;
  const hint = heldOut === true ? '' : ' Held-out episodes are shown with --held-out.';
  return new AgentRlError('CONFIG_INVALID', `${path} has no ${kind} episode${which}.${hint}`);
}
