import { AgentRlError } from '../core/errors.ts';
import { philox4x32, type KeyedRng } from '../core/keyed-rng.ts';
import type { TrainDatum } from '../core/services/batch.ts';
import {
  type BatchShape,
  paddedPredictions,
  paddedRows,
  type PaddingOptions,
} from './batch-shape.ts';
import type { PrefixTree } from './prefix-tree.ts';
import { type TreeLayout, treeLayout } from './tree-layout.ts';

/** How a program trades time for memory. Beside the batch, not the programs: public types need no TensorFlow.js. */
export interface ProgramMemory {
  /** `blocks` computes each layer a second time going back, instead of keeping what its gradient needs. */
  recompute: 'none' | 'blocks';
  /** Most bytes of logits held at once. */
  logitBytes: number;
}

/** One row of a micro-batch: a sequence, or several as trees. */
export interface TrainRow {
  data: readonly TrainDatum[];
  tree: PrefixTree;
}

/** One micro-batch as program inputs. From `weights` on all have one entry per trained token, padded with weight 0. */
export interface TrainBatch {
  shape: BatchShape;
  /** [B, T], padded at the right */
  tokens: Int32Array;
  /** Row of the hidden states that makes each prediction [N]. */
  rows: Int32Array;
  /** What it predicts [N]. */
  targets: Int32Array;
  /** Where rows are trees: how they are laid out, and which prediction each trained token is. */
  trees?: (TreeLayout & Record<'places' | 'predictions', Int32Array>) | undefined;
  weights: Float32Array;
  advantages: Float32Array;
  oldLogProbs: Float32Array;
  refLogProbs: Float32Array;
  /** Where each trained token came from: datum and place in it. */
  origins: readonly { datum: number; place: number }[];
}

export interface LayoutOptions extends PaddingOptions {
  /** Of how many predictions logits are held at once. */
  rowsAtOnce: number;
}

/**
 * Lays rows out as one micro-batch.
 *
 * @throws AgentRlError `SHAPE_MISMATCH` when a datum's arrays disagree, or its first token is to be trained.
 */
export function trainBatch(laid: readonly TrainRow[], options: LayoutOptions): TrainBatch {
  const data = laid.flatMap((row) => row.data);
  for (const datum of data) checkDatum(datum);
  const { hasTrees } = options;
  const lengths = laid.map(({ tree }) => tree.tokens.length);
  const { sequences, length } = paddedRows(lengths, options);
  const trees = hasTrees ? treeLayout(laid[0]!.tree.parents, length) : undefined;
  const origins = data.flatMap(({ weights }, datum) =>
    [...weights.keys()].filter((place) => weights[place] !== 0).map((place) => ({ datum, place })),
  );
  const nodes = laid.flatMap(({ tree }, row) => tree.nodes.map((own) => ({ row, own })));
  const placed = origins.map(({ datum, place }) => {
    const { row, own } = nodes[datum]!;
    const at = (of: number): number => row * length + own[of]!;
    return { token: at(place), state: at(place - 1), target: data[datum]!.tokens[place]! };
  });
  const made = predictionsOf(placed);
  const trained = paddedPredictions(made.rows.length, { sequences, length }, options);
  const entries = hasTrees ? Math.max(2, origins.length) : trained;

  const tokens = new Int32Array(sequences * length);
  for (const [row, { tree }] of laid.entries()) tokens.set(tree.tokens, row * length);
  const column = (pick: (datum: TrainDatum) => Float32Array | undefined): Float32Array => {
    const values = new Float32Array(entries);
    for (const [i, { datum, place }] of origins.entries()) {
      values[i] = pick(data[datum] as TrainDatum)?.[place] ?? 0;
    }
    return values;
  };
  return {
    shape: {
      sequences,
      length,
      trained,
      trees: trees && { sequences: data.length, trained: entries, keys: trees.most },
    },
    tokens,
    rows: padded(made.rows, trained),
    targets: padded(made.targets, trained),
    trees: trees && {
      ...trees.layout,
      places: padded(laid[0]!.tree.places, length),
      predictions: padded(made.predictions, entries),
    },
    weights: column((datum) => datum.weights),
    advantages: column((datum) => datum.advantages),
    oldLogProbs: column((datum) => datum.oldLogProbs),
    refLogProbs: column((datum) => datum.refLogProbs),
    origins,
  };
}

function padded(values: ArrayLike<number>, length: number): Int32Array {
  const all = new Int32Array(length);
  all.set(values);
  return all;
}

/** What is predicted from where, each token of a tree once, and which of these each trained token is. */
function predictionsOf(placed: readonly { token: number; state: number; target: number }[]) {
  const [rows, targets]: number[][] = [[], []];
  const known = new Map<number, number>();
  const predictions = placed.map(({ token, state, target }) => {
    const before = known.get(token);
    if (before !== undefined) return before;
    targets!.push(target);
    const prediction = rows!.push(state) - 1;
    known.set(token, prediction);
    return prediction;
  });
  return { rows: rows!, targets: targets!, predictions };
}

/** [sequences, trained tokens], 1 where a trained token is of a sequence. */
export function membershipOf({
  shape,
  origins,
}: Pick<TrainBatch, 'shape' | 'origins'>): Float32Array {
  const { sequences, trained } = shape.trees ?? shape;
  const membership = new Float32Array(sequences * trained);
  for (const [i, { datum }] of origins.entries()) membership[datum * trained + i] = 1;
  return membership;
}

/** Per datum, one entry per token: the value of each trained token, 0 elsewhere. */
export function byDatum(
  values: Float32Array,
  { origins }: Pick<TrainBatch, 'origins'>,
  data: readonly TrainDatum[],
): Float32Array[] {
  const result = data.map(({ tokens }) => new Float32Array(tokens.length));
  for (const [i, { datum, place }] of origins.entries()) {
    (result[datum] as Float32Array)[place] = values[i] ?? 0;
  }
  return result;
}

function checkDatum({ tokens, weights, advantages, oldLogProbs, refLogProbs }: TrainDatum): void {
  const expected = tokens.length;
  const arrays = { weights, advantages, oldLogProbs, refLogProbs };
  for (const [name, values] of Object.entries(arrays)) {
    if (values === undefined || values.length === expected) continue;
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `A datum of ${expected} tokens has ${values.length} ${name}; expected one per token.`,
    );
  }
  if (weights.length > 0 && weights[0] !== 0) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `A datum gives its first token a weight, but no earlier token predicts it. Set weight 0 for entry 0.`,
    );
  }
}

interface DropoutOptions {
  /** Share dropped. */
  rate: number;
  /** Tokens a sequence is padded to. */
  length: number;
  /** [sequences x length, width] */
  shape: readonly number[];
  rng: KeyedRng;
}

/**
 * 0 where an input of a layer is dropped, 1 / (1 - rate) where it is kept, 0 in the padding. What a sequence's are is
 * keyed by its tokens: they are the same whatever shares the batch.
 */
export function dropoutFactors(
  data: readonly Pick<TrainDatum, 'tokens'>[],
  { rate, length, shape, rng }: DropoutOptions,
): Float32Array {
  const [rows = 0, width = 0] = shape;
  const factors = new Float32Array(rows * width);
  const kept = 1 / (1 - rate);
  // A draw has 16 bits; eight of them come from one block of the generator.
  const dropped = Math.round(rate * 0x10000);
  for (const [row, { tokens }] of data.entries()) {
    const keys = rng.child(tokens.join());
    const key = [keys.integer(2 ** 32), keys.integer(2 ** 32)] as const;
    const start = row * length * width;
    const end = start + tokens.length * width;
    for (let at = start, block = 0; at < end; block++) {
      for (const word of philox4x32([block, 0, 0, 0], key)) {
        if (at < end) factors[at++] = word >>> 16 < dropped ? 0 : kept;
        if (at < end) factors[at++] = (word & 0xffff) < dropped ? 0 : kept;
      }
    }
  }
  return factors;
}

/** A sequence of whose tokens log-probabilities are computed: of those that are wanted, but for the first, which nothing predicts. */
export function scoredDatum(tokens: Int32Array, wanted?: ArrayLike<number>): TrainDatum {
  const weights = new Float32Array(tokens.length).fill(1, 1);
  if (wanted !== undefined)
    for (let place = 1; place < tokens.length; place++) if (!wanted[place]) weights[place] = 0;
  const zeros = new Float32Array(tokens.length);
  return { tokens, weights, advantages: zeros, oldLogProbs: zeros };
}
