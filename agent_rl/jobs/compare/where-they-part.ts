import type { TranscriptRecord } from '../../core/transcript.ts';
import type { EpisodeRecord } from '../../runs/episodes/read-episodes.ts';
import { batchesOf, partText, type RecordedPart } from '../../runs/query/parts.ts';
import type { RunFolder } from '../../runs/run-folder.ts';

/** The first token in which the same attempt at the same task differs. */
export interface FirstDifference {
  iteration: number;
  /** As `agent-rl runs show` calls it. */
  episode: string;
  taskId: string;
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

type Batches = ReturnType<typeof batchesOf>;

const shownTokens = 8;

/**
 * Plays the training episodes of two runs beside one another, iteration by iteration, until some differ. Within an iteration,
 * the first difference in A is returned.
 */
export async function whereTheyPart(
  a: Pick<RunFolder, 'journal'>,
  b: Pick<RunFolder, 'journal'>,
): Promise<Parting> {
  const [ofA, ofB] = [a, b].map((folder) => batchesOf(folder, { file: 'train' })) as [
    Batches,
    Batches,
  ];
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
  ofA: readonly RecordedPart[],
  ofB: readonly RecordedPart[],
): void {
  const others = new Map(ofB.map(({ episode }) => [partText(episode), episode]));
  let paired = 0;
  for (const { episode: one } of ofA) {
    const other = others.get(partText(one));
    if (other?.taskId !== one.taskId) continue;
    paired += 1;
    const first = firstDifference(one, other);
    if (first !== undefined) parting.first ??= first;
    else if (logProbsOf(one).some((value, at) => value !== logProbsOf(other)[at]))
      parting.otherProbabilities ??= one.iteration;
  }
  parting.compared += paired;
  parting.unpaired += ofA.length + ofB.length - 2 * paired;
}

const logProbsOf = ({ sequences }: EpisodeRecord): readonly number[] =>
  sequences.flatMap(({ logProbs }) => logProbs);

const none: TranscriptRecord = { tokens: [], spans: [], logProbs: [] };

function firstDifference(one: EpisodeRecord, other: EpisodeRecord): FirstDifference | undefined {
  const amount = Math.max(one.sequences.length, other.sequences.length);
  for (let index = 0; index < amount; index++) {
    const [a = none, b = none] = [one.sequences[index], other.sequences[index]];
    const length = Math.max(a.tokens.length, b.tokens.length);
    let at = 0;
    while (at < length && a.tokens[at] === b.tokens[at]) at++;
    if (at === length) continue;
    const { spans } = at < a.tokens.length ? a : b;
    const span = spans.find(({ start, end }) => start <= at && at < end);
    const turn = spans.filter(({ source, start }) => source === 'sampled' && start <= at);
    return {
      iteration: one.iteration,
      episode: partText(one),
      taskId: one.taskId,
      token: at,
      source: span?.source ?? 'unknown',
      turn: turn.length,
      before: a.tokens.slice(Math.max(0, at - shownTokens), at),
      a: a.tokens.slice(at, at + shownTokens),
      b: b.tokens.slice(at, at + shownTokens),
    };
  }
  return undefined;
}
