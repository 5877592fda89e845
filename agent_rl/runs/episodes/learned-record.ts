import { mean } from '../../algorithms/statistics.ts';
import type { RolloutKey } from '../../core/rollout.ts';
import type { LearnedPart, SentSequence } from '../../trainer/learned-parts.ts';

/**
 * What the update made of a part.
 * Per-token columns are over the tokens that a sequence trains, in order; one number stands for a column that is the same
 * throughout.
 */
export interface LearnedRecord extends RolloutKey {
  agent: string;
  taskId: string;
  /** The bucket of the ledger. */
  use: LearnedPart['use'];
  /** Before a correction; null where it was not compared with a group. */
  advantage: number | null;
  /** Where each turn has its own: these, whose mean `advantage` is. */
  turnAdvantages?: readonly number[] | undefined;
  /** One for each sequence of the part; null where it was not sent to the learner. */
  sent: readonly (SentColumns | null)[];
}

export interface SentColumns {
  /** Optimiser step of a pass, from 0. */
  update: number;
  weights: Column;
  advantages: Column;
  /** Under the learner's weights before the first pass, in nats. */
  logProbs: Column;
  /** Before the last pass, where there is more than one. */
  lastLogProbs?: Column | undefined;
  /** What ratios are to, where a correction replaced those under the weights that sampled. */
  oldLogProbs?: Column | undefined;
  refLogProbs?: Column | undefined;
}

export type Column = number | readonly number[];

export function learnedRecord({ rollout, part, use, advantage, sent }: LearnedPart): LearnedRecord {
  return {
    ...rollout.key,
    agent: part.agent,
    taskId: rollout.taskId,
    use,
    ...(typeof advantage === 'object'
      ? { advantage: mean(advantage), turnAdvantages: advantage }
      : { advantage: advantage ?? null }),
    sent: part.sequences.map(({ logProbs }, index) => {
      const own = sent[index];
      return own === undefined ? null : columns(own, logProbs);
    }),
  };
}

function columns(
  { datum, update, logProbs, lastLogProbs }: SentSequence,
  sampledLogProbs: readonly number[],
): SentColumns {
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
    lastLogProbs: lastLogProbs === logProbs ? undefined : column(lastLogProbs),
    oldLogProbs: corrected ? column(datum.oldLogProbs) : undefined,
    refLogProbs: datum.refLogProbs && column(datum.refLogProbs),
  };
}

/** Nine digits give a float32 back. */
const short = (value: number): number => Number(value.toPrecision(9));

function columnOf(values: readonly number[]): Column {
  const [first = Number.NaN] = values;
  return values.every((value) => value === first) ? short(first) : values.map(short);
}
