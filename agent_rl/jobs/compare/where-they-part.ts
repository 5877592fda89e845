import { type EpisodeRecord, readEpisodes } from '../../runs/episodes/read-episodes.ts';
import type { RunFolder } from '../../runs/run-folder.ts';
import { episodeId } from '../../runs/episodes/episode-id.ts';

/** The first token in which the same attempt at the same task differs. */
export interface FirstDifference {
  iteration: number;
  /** As `agent-rl runs show` calls it. */
  episode: string;
  /** Place in the transcript, from 0, and what wrote it there. */
  token: number;
  source: string;
  /** Turn of the policy that it is of or comes after, from 1; 0 before the first. */
  turn: number;
  /** The tokens from there on, a few of each; none where one ends. */
  a: readonly number[];
  b: readonly number[];
  /** Those before, which both have. */
  before: readonly number[];
}

export interface Parting {
  /** Iterations of which both have episodes. */
  iterations: number;
  /** Attempts at the same tasks that were compared, up to where they part. */
  compared: number;
  /** Attempts that only one has, or that are at other tasks, up to there. */
  unpaired: number;
  /** In which iteration a token first has another probability, though the tokens are the same: the weights differ. */
  otherProbabilities?: number;
  first?: FirstDifference;
}

const shownTokens = 8;

/**
 * Plays the training episodes of two runs beside one another, iteration by iteration, until some differ. Of those of the
 * same iteration the first in A is told.
 */
export async function whereTheyPart(
  a: Pick<RunFolder, 'trajectories'>,
  b: Pick<RunFolder, 'trajectories'>,
): Promise<Parting> {
  const [ofA, ofB] = [byIteration(a), byIteration(b)];
  const parting: Parting = { iterations: 0, compared: 0, unpaired: 0 };
  try {
    for (;;) {
      const [one, other] = [await ofA.next(), await ofB.next()];
      if (one.done === true || other.done === true) return parting;
      parting.iterations += 1;
      compareIteration(parting, one.value, other.value);
      if (parting.first !== undefined || parting.compared === 0) return parting;
    }
  } finally {
    await Promise.all([ofA.return(undefined), ofB.return(undefined)]);
  }
}

function compareIteration(
  parting: Parting,
  ofA: readonly EpisodeRecord[],
  ofB: readonly EpisodeRecord[],
): void {
  const others = new Map(ofB.map((episode) => [keyOf(episode), episode]));
  let paired = 0;
  for (const one of ofA) {
    const other = others.get(keyOf(one));
    if (other === undefined) continue;
    paired += 1;
    const first = firstDifference(one, other);
    if (first !== undefined) parting.first ??= first;
    else if (one.logProbs.some((value, at) => value !== other.logProbs[at]))
      parting.otherProbabilities ??= one.iteration;
  }
  parting.compared += paired;
  parting.unpaired += ofA.length + ofB.length - 2 * paired;
}

const keyOf = ({ iteration, place, taskId, sample, agent }: EpisodeRecord): string =>
  JSON.stringify([iteration, place?.round, place?.slot, taskId, sample, agent]);

function firstDifference(one: EpisodeRecord, other: EpisodeRecord): FirstDifference | undefined {
  const length = Math.max(one.tokens.length, other.tokens.length);
  let at = 0;
  while (at < length && one.tokens[at] === other.tokens[at]) at++;
  if (at === length) return undefined;
  const longer = at < one.tokens.length ? one : other;
  const span = longer.spans.find(({ start, end }) => start <= at && at < end);
  const turn = longer.spans.filter(({ source, start }) => source === 'sampled' && start <= at);
  return {
    iteration: one.iteration,
    episode: episodeId(one),
    token: at,
    source: span?.source ?? 'unknown',
    turn: turn.length,
    before: one.tokens.slice(Math.max(0, at - shownTokens), at),
    a: one.tokens.slice(at, at + shownTokens),
    b: other.tokens.slice(at, at + shownTokens),
  };
}

/**
 * The training episodes of a run.
 *
 * @yields those of an iteration
 */
async function* byIteration(
  folder: Pick<RunFolder, 'trajectories'>,
): AsyncGenerator<EpisodeRecord[]> {
  let held: EpisodeRecord[] = [];
  for await (const episode of readEpisodes(folder, 'train')) {
    if (held.length > 0 && held[0]?.iteration !== episode.iteration) {
      yield held;
      held = [];
    }
    held.push(episode);
  }
  if (held.length > 0) yield held;
}
