import type { LearnedEpisode } from '../../trainer/learned-episodes.ts';

/**
 * A line of `trajectories/learned.jsonl`: what the update made of the episode that the same line of `train.jsonl` holds.
 * Per-token columns are over its sampled tokens, in order; one number stands for a column that is the same throughout.
 */
export interface LearnedRecord {
  iteration: number;
  taskId: string;
  sample: number;
  agent?: string;
  /** The bucket of the ledger. */
  use: LearnedEpisode['use'];
  /** Before a correction; null where it was not compared with a group. */
  advantage: number | null;
  /** Absent where nothing was sent to the learner. */
  sent?: {
    /** Optimiser step of a pass, from 0. */
    update: number;
    weights: Column;
    advantages: Column;
    /** Under the learner's weights before the first pass, in nats. */
    logProbs: Column;
    /** Before the last pass, where there is more than one. */
    lastLogProbs?: Column;
    /** What ratios are to, where a correction replaced those under the weights that sampled. */
    oldLogProbs?: Column;
    refLogProbs?: Column;
  };
}

export type Column = number | readonly number[];

export function learnedLine({ trajectory, use, advantage, sent }: LearnedEpisode) {
  const { taskId, sample, agent } = trajectory;
  return {
    taskId,
    sample,
    ...(agent !== undefined && { agent }),
    use,
    advantage: advantage ?? null,
    ...(sent && { sent: columns(sent, trajectory.logProbs) }),
  };
}

function columns(
  { datum, update, logProbs, lastLogProbs }: NonNullable<LearnedEpisode['sent']>,
  sampledLogProbs: readonly number[],
): NonNullable<LearnedRecord['sent']> {
  const places = [...datum.weights.keys()].filter((place) => datum.weights[place] !== 0);
  const column = (values: Float32Array): Column =>
    columnOf(places.map((at) => values[at] ?? Number.NaN));
  const corrected = places.some(
    (at) => datum.oldLogProbs[at] !== Math.fround(sampledLogProbs[at] ?? Number.NaN),
  );
  return {
    update,
    weights: column(datum.weights),
    advantages: column(datum.advantages),
    logProbs: column(logProbs),
    ...(lastLogProbs !== logProbs && { lastLogProbs: column(lastLogProbs) }),
    ...(corrected && { oldLogProbs: column(datum.oldLogProbs) }),
    ...(datum.refLogProbs && { refLogProbs: column(datum.refLogProbs) }),
  };
}

/** Nine digits give a float32 back. */
const short = (value: number): number => Number(value.toPrecision(9));

function columnOf(values: readonly number[]): Column {
  const [first = Number.NaN] = values;
  return values.every((value) => value === first) ? short(first) : values.map(short);
}
