import { tf, type Tensor } from '../../agent_rl/engine/ops.ts';
import {
  embed,
  finalNorm,
  finishLayer,
  lmHead,
  projectHeads,
  type Decoder,
  type Parameters,
} from './decoder-block.ts';
import {
  attendParts,
  byHead,
  hide,
  type KeysAndValues,
  rotate,
  upTo,
  type View,
} from './step-attention.ts';
import { windowTokens } from './windows.ts';
import type { ModelConfig } from '../config/architecture.ts';

/** Up to n tokens, one after another and of one window, for each of R sequences, in caches that hold C tokens: T in all. */
export interface DecodeInputs {
  /** [T] int32. */
  tokens: Tensor;
  /** [T, hd] from `ropeTables`, the tokens' positions. */
  cos: Tensor;
  /** [T, hd] */
  sin: Tensor;
  /** [R * n] int32: which token each place of each row has, any where it has none. Attention alone is laid out so. */
  laidOut: Tensor;
  /** [T] int32: where among these places each token is. */
  taken: Tensor;
  /** [R]: where the window of a row's tokens begins, and how far from there its first one stands. */
  starts: Tensor;
  offsets: Tensor;
  /** [R * kv * windowTokens] int32, from `windowPlaces`. */
  places: Tensor;
  /** [C]: the positions of the caches, from 0 on. */
  positions: Tensor;
  /** [n]: 0, 1, 2 ... */
  steps: Tensor;
  /** [P] int32: the tokens that are drawn after, among the T. */
  drawnAfter: Tensor;
  /** For each layer, what stands before the window, [R, kv, C, hd]. */
  past: readonly KeysAndValues[];
  /** For each layer, what the window holds already, [R, kv, windowTokens, hd]. */
  recent: readonly KeysAndValues[];
}

export interface DecodeOutputs {
  /** [P, V] */
  logits: Tensor;
  /**
   * Of each layer, [R, kv, n, hd], for the caller to write into the caches: an output as large as a cache would cost
   * a copy of it.
   */
  fresh: readonly KeysAndValues[];
}

/** The forward pass of the next tokens of each sequence. */
export function decodeStep(
  config: ModelConfig,
  parameters: Parameters,
  inputs: DecodeInputs,
): DecodeOutputs {
  const decoder: Decoder = { config, parameters };
  const fresh: KeysAndValues[] = [];
  const view = viewOf(inputs);
  let hidden = embed(decoder, inputs.tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = rotate(projectHeads(decoder, layer, hidden), inputs);
    const [queries, keys, values] = [heads.queries, heads.keys, heads.values].map((some) =>
      tf.gather(some, inputs.laidOut),
    ) as [Tensor, Tensor, Tensor];
    const own = {
      keys: byHead(keys, view, config.kvHeads),
      values: byHead(values, view, config.kvHeads),
    };
    fresh.push(own);
    const recent = inputs.recent[layer]!;
    const window = {
      keys: inWindow(recent.keys, own.keys, inputs.places),
      values: inWindow(recent.values, own.values, inputs.places),
    };
    const mixed = attendParts(config, queries, [window, inputs.past[layer]!], view);
    hidden = finishLayer(decoder, layer, hidden, tf.gather(mixed, inputs.taken));
  }
  const last = finalNorm(decoder, tf.gather(hidden, inputs.drawnAfter));
  return { logits: tf.matMul(last, lmHead(decoder), false, true), fresh };
}

/** Its places are the window's, followed by the cache's. */
function viewOf({ starts, offsets, positions, steps }: DecodeInputs): View {
  const rows = starts.shape[0];
  const count = steps.shape[0];
  const capacity = positions.shape[0];
  const ofRows = (some: Tensor): Tensor => tf.reshape(some, [rows, 1, 1, 1]);
  // [R, 1, n, 1]: where in its window each token stands.
  const stands = tf.add(ofRows(offsets), tf.reshape(steps, [1, 1, count, 1]));
  const inPast = hide(tf.greaterEqual(tf.reshape(positions, [1, 1, 1, capacity]), ofRows(starts)));
  const hidden = [
    hide(tf.greater(upTo(windowTokens, [1, 1, 1, windowTokens]), stands)),
    tf.add(inPast, tf.mul(tf.reshape(steps, [1, 1, count, 1]), 0)),
  ];
  const shape = [rows, 1, count, 1, windowTokens + capacity];
  return { rows, count, mask: tf.reshape(tf.concat(hidden, -1), shape) };
}

/** What a row's window holds, with the tokens of this step in their places: [R, kv, windowTokens, hd]. */
function inWindow(recent: Tensor, own: Tensor, places: Tensor): Tensor {
  const headDim = recent.shape[3]!;
  const all = tf.reshape(tf.concat([recent, own], 2), [-1, headDim]);
  return tf.reshape(tf.gather(all, places), recent.shape);
}
