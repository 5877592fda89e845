import type { EpisodeFile, EpisodeRecord } from '../../../runs/episodes/read-episodes.ts';
import { batchesOf, type RecordedPart } from '../../../runs/query/parts.ts';
import type { RunFolder } from '../../../runs/run-folder.ts';

/** The kinds of episodes that a report shows one of each. */
export const episodeKinds = {
  solved: 'Solved without a failed call',
  repaired: 'Recovered: solved after a failed or malformed call',
  failed: 'Not solved',
} as const;

export type EpisodeKind = keyof typeof episodeKinds;

/** Episodes to show of a run, chosen by a rule and not by taste: the first of each kind, in the order of the tasks. */
export interface ChosenEpisodes {
  /** `eval`: the evaluation after training; `train`: the last iteration, where no such evaluation exists. */
  from: EpisodeFile;
  iteration: number;
  first: Record<EpisodeKind, EpisodeRecord | undefined>;
  /** The number of each kind, including slices. */
  counts: Record<EpisodeKind, number>;
  /** Those that the system failed: they have no verdict. */
  unjudged: number;
}

/** `undefined` for a run that recorded no episodes, as supervised ones. @throws AgentRlError `DATASET_INVALID` */
export async function chooseEpisodes(folder: RunFolder): Promise<ChosenEpisodes | undefined> {
  return (await chooseFrom(folder, 'eval')) ?? (await chooseFrom(folder, 'train'));
}

async function chooseFrom(
  folder: RunFolder,
  from: EpisodeFile,
): Promise<ChosenEpisodes | undefined> {
  let newest: readonly RecordedPart[] = [];
  for await (const parts of batchesOf(folder, { file: from }))
    if (from === 'train' || parts[0]?.episode.when === 'after') newest = parts;
  const episodes = newest.map(({ episode }) => episode).filter(({ learns }) => learns);
  const [first] = episodes;
  if (first === undefined) return undefined;
  const of = (kind: EpisodeKind | undefined) => episodes.filter((one) => kindOf(one) === kind);
  const kinds = Object.keys(episodeKinds) as EpisodeKind[];
  const each = <Value>(value: (own: readonly EpisodeRecord[]) => Value) =>
    Object.fromEntries(kinds.map((kind) => [kind, value(of(kind))])) as Record<EpisodeKind, Value>;
  return {
    from,
    iteration: first.iteration,
    first: each(([one]) => one),
    counts: each(({ length }) => length),
    unjudged: of(undefined).length,
  };
}

function kindOf(episode: EpisodeRecord): EpisodeKind | undefined {
  const { reward, success, toolCalls, malformedCalls } = episode;
  if (reward === null) return undefined;
  if (!success) return 'failed';
  const failed = malformedCalls > 0 || toolCalls.some(({ status }) => status !== 'ok');
  return failed ? 'repaired' : 'solved';
}

/** The attempts of one evaluation as the journal has them, including slices. */
export interface RecordedEvaluation {
  when: string;
  iteration: number;
  /** Attempts with a verdict, and how many of these solved the task. */
  judged: number;
  successes: number;
  /** Attempts that the system failed. */
  unjudged: number;
}

/** Each evaluation that a run recorded, in order. @throws AgentRlError `DATASET_INVALID` */
export async function recordedEvaluations(folder: RunFolder): Promise<RecordedEvaluation[]> {
  const found: RecordedEvaluation[] = [];
  for await (const parts of batchesOf(folder, { file: 'eval' })) {
    const episodes = parts.map(({ episode }) => episode).filter(({ learns }) => learns);
    const judged = episodes.filter(({ reward }) => reward !== null);
    const { when = 'eval', iteration = 0 } = parts[0]?.episode ?? {};
    found.push({
      when,
      iteration,
      judged: judged.length,
      successes: judged.filter(({ success }) => success).length,
      unjudged: episodes.length - judged.length,
    });
  }
  return found;
}
