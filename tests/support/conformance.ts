import { builtinCorrections } from '#agent_rl/algorithms/corrections/index.ts';
import { policyLoss } from '#agent_rl/algorithms/policy-loss.ts';
import { tokenWeights, type Aggregation } from '#agent_rl/algorithms/token-weights.ts';
import { type CorrectionFunction, corrections } from '#agent_rl/core/algorithm/correction.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';
import { builtinLoss, clippedSpec } from './algorithm-parts.ts';
import { readFixture } from './exchanges.ts';

// Losses on one stored batch by two ways: by their formula in double precision, and ours. What others compute of the same
// batch is in tests/fixtures/conformance (scripts/conformance).

export type Rows = readonly (readonly number[])[];

/** What TRL computed, and the batch. */
interface Stored {
  batch: Readonly<Record<'logProbs' | 'old' | 'reference' | 'mask' | 'behaviour', Rows>> & {
    advantages: readonly number[];
  };
  cap: number;
  losses: Readonly<Record<string, { loss: number; gradient: Rows }>>;
  rewards: readonly (readonly (number | null)[])[];
  rloo: Rows;
}

export const stored = readFixture('conformance/trl.json') as Stored;
const { batch, cap } = stored;

/** Every place with what is stored of it, weights as the aggregation has them. */
export function places(aggregation: Aggregation) {
  const masks = batch.mask.map((row) => Uint8Array.from(row));
  const weights = tokenWeights(masks, { aggregation, maxTokensPerEpisode: 16 });
  return batch.logProbs.flatMap((logProbs, row) =>
    logProbs.map((logProb, t) => ({
      row,
      logProb,
      old: batch.old[row]?.[t] ?? NaN,
      behaviour: batch.behaviour[row]?.[t] ?? NaN,
      trained: batch.mask[row]?.[t] === 1,
      weight: weights[row]?.[t] ?? NaN,
      advantage: batch.advantages[row] ?? NaN,
    })),
  );
}

type Place = ReturnType<typeof places>[number];

export const ratioOf = ({ logProb, old }: Place): number => Math.exp(logProb - old);
const clip = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

/** Mean log ratio of the trained tokens of a row. */
function meanLogRatio(all: readonly Place[], row: number): number {
  const own = all.filter((place) => place.row === row && place.trained);
  return own.reduce((sum, { logProb, old }) => sum + logProb - old, 0) / own.length;
}

/** A loss, and how it is set. */
export interface Case {
  type: string;
  aggregation: Aggregation;
  settings: Readonly<Record<string, unknown>>;
  /** The loss of one token, as its paper writes it. */
  formula: (place: Place, all: readonly Place[]) => number;
  corrected?: boolean;
}

/** What PPO maximises at a token. */
export const surrogate = (ratio: number, advantage: number, low: number, high: number): number =>
  Math.min(ratio * advantage, clip(ratio, 1 - low, 1 + high) * advantage);

export const cases: Readonly<Record<string, Case>> = {
  gspo: {
    type: 'gspo',
    aggregation: 'sequence-mean',
    settings: { clipLow: 3e-4, clipHigh: 4e-4 },
    formula: ({ row, advantage }, all) =>
      -surrogate(Math.exp(meanLogRatio(all, row)), advantage, 3e-4, 4e-4),
  },
  cispo: {
    type: 'cispo',
    aggregation: 'token-mean',
    // TRL's epsilon_high is the bound itself, 1.1.
    settings: { clipLow: 1, clipHigh: 0.1 },
    formula: (place) => -clip(ratioOf(place), 0, 1.1) * place.advantage * place.logProb,
  },
  'dual clip': {
    type: 'clipped',
    aggregation: 'token-mean',
    settings: { clipLow: 0.2, clipHigh: 0.28, dualClip: 1.35 },
    formula: (place) => {
      const plain = surrogate(ratioOf(place), place.advantage, 0.2, 0.28);
      return -(place.advantage < 0 ? Math.max(plain, 1.35 * place.advantage) : plain);
    },
  },
  'dapo with tis': {
    type: 'clipped',
    aggregation: 'token-mean',
    settings: { clipLow: 0.2, clipHigh: 0.28 },
    corrected: true,
    formula: (place) =>
      -Math.min(Math.exp(place.old - place.behaviour), cap) *
      surrogate(ratioOf(place), place.advantage, 0.2, 0.28),
  },
};

/** Factors of all places by the built-in correction, row by row. */
function factorsOf(all: readonly Place[]): number[] {
  const tis = builtinCorrections.find((one) => corrections.specOf(one)?.name === 'tis');
  return batch.mask.flatMap((_, row) => {
    const own = all.filter((place) => place.row === row);
    const tokens = {
      behaviour: Float32Array.from(own, ({ behaviour }) => behaviour),
      proximal: Float32Array.from(own, ({ old }) => old),
    };
    return Array.from((tis as CorrectionFunction)(tokens, { cap }));
  });
}

/** Our loss and its gradient at each place. */
function ours({ type, aggregation, settings, corrected }: Case) {
  const all = places(aggregation);
  const factors = corrected === true ? factorsOf(all) : all.map(() => 1);
  const column = (pick: (place: Place, i: number) => number) => tf.tensor1d(all.map(pick));
  const memberOf = (row: number) => all.map((place) => Number(place.row === row && place.trained));
  const of = (logProbs: Tensor): Tensor =>
    policyLoss(
      {
        logProbs,
        oldLogProbs: column(({ old }) => old),
        advantages: column(({ advantage }, i) => advantage * (factors[i] ?? NaN)),
        weights: column(({ weight }) => weight),
        ...(type === 'gspo' && {
          membership: tf.tensor2d(batch.mask.map((_, row) => memberOf(row))),
        }),
      },
      clippedSpec(0, 0, { type, settings }),
      builtinLoss(type),
    ).loss;
  const at = column(({ logProb }) => logProb);
  const gradient = tf
    .grad((x: Tensor) => of(x).asScalar())(at)
    .dataSync();
  return { loss: of(at).dataSync()[0] ?? NaN, gradient };
}

/** The loss by its formula, in double precision. */
function byFormula(one: Case): number {
  const all = places(one.aggregation);
  const trained = all.filter((place) => place.trained);
  return trained.reduce((sum, place) => sum + place.weight * one.formula(place, all), 0);
}

/** The largest differences: of our loss to the formula and to another's value, and of our gradient to another's. */
export function gapsOf(one: Case, theirs: { loss: number; gradient: Rows } | undefined) {
  const { loss, gradient } = ours(one);
  const slopes = theirs?.gradient.flat() ?? [NaN];
  return {
    formula: Math.abs(loss - byFormula(one)),
    loss: Math.abs(loss - (theirs?.loss ?? NaN)),
    gradient: Math.max(...slopes.map((slope, i) => Math.abs(slope - (gradient[i] ?? NaN)))),
  };
}
