import {
  type EpisodeFile,
  type EpisodeRecord,
  readEpisodes,
} from '../../../runs/episodes/read-episodes.ts';
import type { RunFolder } from '../../../runs/run-folder.ts';

/** The kinds of episodes that a report shows one of each. */
export const episodeKinds = {
  solved: 'Solved at the first try: no call failed',
  repaired: 'Repaired: solved after a call had failed or could not be read',
  failed: 'Not solved',
} as const;

export type EpisodeKind = keyof typeof episodeKinds;

/** Episodes to show of a run, chosen by a rule and not by taste: the first of each kind, in the order of the tasks. */
export interface ChosenEpisodes {
  /** `eval`: those of the evaluation after training; `train`: those of the last iteration, as there was none. */
  from: EpisodeFile;
  iteration: number;
  first: Partial<Record<EpisodeKind, EpisodeRecord>>;
  /** How many there are of each kind, those of slices too. */
  counts: Record<EpisodeKind, number>;
  /** Those that the system failed: they have no verdict. */
  unjudged: number;
}

/** `undefined` for a run that recorded no episodes, as supervised ones. @throws AgentRlError `DATASET_INVALID` */
export async function chooseEpisodes(folder: RunFolder): Promise<ChosenEpisodes | undefined> {
  return (await chooseFrom(folder, 'eval')) ?? (await chooseFrom(folder, 'train'));
}

async function chooseFrom(folder: RunFolder, from: EpisodeFile) {
  let chosen: ChosenEpisodes | undefined;
  for await (const episode of readEpisodes(folder, from)) {
    if (from === 'eval' && episode.when !== 'after') continue;
    if (episode.learns === false) continue;
    const { iteration } = episode;
    // Only the newest iteration is kept.
    if (chosen?.iteration !== iteration) chosen = none(from, iteration);
    const kind = kindOf(episode);
    if (kind === undefined) {
      chosen.unjudged += 1;
      continue;
    }
    chosen.counts[kind] += 1;
    chosen.first[kind] ??= episode;
  }
  return chosen;
}

const none = (from: EpisodeFile, iteration: number): ChosenEpisodes => ({
  from,
  iteration,
  first: {},
  counts: { solved: 0, repaired: 0, failed: 0 },
  unjudged: 0,
});

function kindOf({ reward, success, toolCalls, malformedCalls }: EpisodeRecord) {
  if (reward === null) return undefined;
  if (!success) return 'failed';
  const failed = malformedCalls > 0 || toolCalls.some(({ status }) => status !== 'ok');
  return failed ? 'repaired' : 'solved';
}
