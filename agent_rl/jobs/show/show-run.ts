import { AgentRlError } from '../../core/errors.ts';
import { append } from '../../core/long-lists.ts';
import { readKey } from '../../core/rollout.ts';
import { runWithEpisodes } from '../../runs/episodes/read-episodes.ts';
import { batchesOf, partText, type RecordedPart, rolloutsIn } from '../../runs/query/parts.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import { countText } from '../../telemetry/figures.ts';
import type { JobResult } from '../job.ts';
import { episodeLine, episodeText } from './episode-text.ts';

export interface ShowRunOptions {
  /** Folder of a run. */
  run: string;
  /** `train/3/0/2/1`: what it was played for, iteration, round, slot and sample; `/NAME` behind it is one of several agents. */
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
  const { episode, worst, hidden = false, print } = options;
  const folder = runWithEpisodes(options.run);
  const chosen = await choose(folder, options);
  if (chosen.length === 0) throw noneFound(folder.path, options);
  if (episode !== undefined || worst !== undefined) {
    print(chosen.map((one) => episodeText(one, { hidden })).join('\n\n'));
  } else {
    const shown = chosen.slice(0, mostLines).map((one) => episodeLine(one.episode));
    const rest = chosen.length - shown.length;
    print(headOf(chosen, options));
    print([...shown, ...(rest > 0 ? [`${rest} more`] : [])].join('\n'));
    print(
      'To print an episode: --episode ID; the worst N: --worst N; another iteration: --step N.',
    );
  }
  return { episodes: chosen.map((one) => partText(one.episode)) };
}

function headOf(
  chosen: readonly RecordedPart[],
  { step, heldOut = false }: ShowRunOptions,
): string {
  const newest = step === undefined ? ', the newest' : '';
  const kind = heldOut ? 'held-out' : 'training';
  const { length: episodes } = rolloutsIn(chosen.map((one) => one.episode));
  const parts = chosen.length > episodes ? ', one line for each agent' : '';
  return `Iteration ${chosen[0]?.episode.iteration ?? '?'}${newest}: ${countText(episodes, `${kind} episode`)}${parts}`;
}

async function choose(
  folder: RunFolder,
  { episode, worst, step, heldOut = false }: ShowRunOptions,
): Promise<RecordedPart[]> {
  const key = episode === undefined ? undefined : readKey(episode);
  if (episode !== undefined && key === undefined) return [];
  const isHeldOut = key === undefined ? heldOut : key.when !== 'train';
  const iteration = key?.iteration ?? step;
  let chosen: RecordedPart[] = [];
  const file = isHeldOut ? 'eval' : 'train';
  for await (const parts of batchesOf(folder, { file })) {
    if (iteration === undefined) chosen = parts;
    else if (parts[0]?.episode.iteration === iteration) append(chosen, parts);
  }
  if (key !== undefined)
    return chosen.filter((one) => `${partText(one.episode)}/`.startsWith(`${episode}/`));
  if (worst === undefined) return chosen;
  return chosen
    .toSorted((a, b) => Number(rank(a) > rank(b)) - Number(rank(a) < rank(b)))
    .slice(0, worst);
}

/** One that failed is worse than any that was judged. */
const rank = ({ episode }: RecordedPart): number => episode.reward ?? -Infinity;

function noneFound(path: string, { episode, step, heldOut }: ShowRunOptions): AgentRlError {
  const which =
    episode !== undefined
      ? `episode "${episode}". To list the ids, such as train/3/0/2/1: agent-rl runs show ${path}`
      : `${heldOut === true ? 'held-out' : 'training'} episode${step === undefined ? '' : ` of iteration ${step}`}`;
  const hint = heldOut === true ? '' : ' For held-out episodes, add --held-out.';
  return new AgentRlError('CONFIG_INVALID', `${path} has no ${which}.${hint}`);
}
