import { tf, type Tensor } from '../../agent_rl/engine/ops.ts';
import {
  embed,
  finishLayer,
  projectHeads,
  type Decoder,
  type Parameters,
} from './decoder-block.ts';
import type { DecodeInputs } from './decode-step.ts';
import {
  byHead,
  byToken,
  hide,
  type KeysAndValues,
  rotate,
  sharesOf,
  type View,
} from './step-attention.ts';
import { windowStart, windowTokens } from './windows.ts';
import type { ModelConfig } from '../config/architecture.ts';

/** Tokens of one sequence that follow what its cache of C tokens holds: n of them, one after another, of any windows. */
export interface ChunkInputs extends Pick<DecodeInputs, 'tokens' | 'cos' | 'sin'> {
  /** [n]: where each token's window begins, and how far from there it stands. */
  starts: Tensor;
  offsets: Tensor;
  /** [n + windowTokens + C] int32, from `chunkPlaces`, and the positions that are read there. */
  places: Tensor;
  positions: Tensor;
  /** For each layer, what stands before the first token's window, [kv, C, hd]. */
  past: readonly KeysAndValues[];
  /** For each layer, what that window holds already, [kv, windowTokens, hd]. */
  recent: readonly KeysAndValues[];
}

/**
 * Where what a chunk sees is read from, among a cache, a window and the `count` tokens fed: first the positions from the beginning of that
 * window on, for what its tokens see of their own windows, then all positions from 0 on, for what they see before those.
 */
export function chunkPlaces(
  length: number,
  { count, capacity }: { count: number; capacity: number },
): { places: Int32Array; positions: Float32Array } {
  const start = windowStart(length);
  const own = windowTokens + count;
  const positions = Float32Array.from({ length: own + capacity }, (_, i) =>
    i < own ? start + i : i - own,
  );
  const places = Int32Array.from(positions, (position) => {
    if (position < start) return position;
    if (position < length) return capacity + position - start;
    return capacity + windowTokens + Math.min(position - length, count - 1);
  });
  return { places, positions };
}

/**
 * Keys and values of a chunk of tokens, [kv, n, hd] for each layer. Every token sees the past where a step of its own
 * would see it and adds it up as there, so that the entries equal the result of feeding the tokens one by one.
 */
export function chunkStep(
  config: ModelConfig,
  parameters: Parameters,
  inputs: ChunkInputs,
): readonly KeysAndValues[] {
  const decoder: Decoder = { config, parameters };
  const caches: KeysAndValues[] = [];
  const view = viewOf(inputs);
  let hidden = embed(decoder, inputs.tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const heads = rotate(projectHeads(decoder, layer, hidden), inputs);
    const own = {
      keys: tf.transpose(heads.keys, [1, 0, 2]),
      values: tf.transpose(heads.values, [1, 0, 2]),
    };
    caches.push(own);
    // What the last layer adds to the hidden state is not read.
    if (layer === config.layers - 1) break;
    const [past, recent] = [inputs.past[layer]!, inputs.recent[layer]!];
    const seen = (kind: keyof KeysAndValues): Tensor =>
      tf.gather(tf.concat([past[kind], recent[kind], own[kind]], 1), inputs.places, 1);
    const attended = attendChunk(
      config,
      heads.queries,
      { keys: seen('keys'), values: seen('values') },
      view,
    );
    hidden = finishLayer(decoder, layer, hidden, attended);
  }
  return caches;
}

/** Its places are `chunkPlaces`: among the first a token sees its own window, among the rest what stands before that. */
function viewOf({ starts, offsets, places, positions }: ChunkInputs): View {
  const count = starts.shape[0];
  const all = places.shape[0];
  const own = windowTokens + count;
  const [start, offset] = [starts, offsets].map((some) => tf.reshape(some, [count, 1]));
  const [inWindows, before] = tf.split(tf.reshape(positions, [1, all]), [own, all - own], 1);
  const outside = tf.logicalOr(
    tf.less(inWindows!, start!),
    tf.greater(inWindows!, tf.add(start!, offset!)),
  );
  const mask = tf.concat([hide(outside), hide(tf.greaterEqual(before!, start!))], -1);
  return { rows: 1, count, mask: tf.reshape(mask, [1, 1, count, 1, all]) };
}

/** Attention of the tokens of a chunk, [n, H * hd]. */
function attendChunk(
  { kvHeads, headDim }: ModelConfig,
  queries: Tensor,
  seen: KeysAndValues,
  view: View,
): Tensor {
  const places = seen.keys.shape[1]!;
  const own = windowTokens + view.count;
  const [keys, values] = [seen.keys, seen.values].map((some) =>
    tf.reshape(some, [1, kvHeads, places, headDim]),
  );
  const scaled = tf.mul(byHead(queries, view, kvHeads), 1 / Math.sqrt(headDim));
  const shares = sharesOf(tf.matMul(scaled, keys!, false, true), view);
  const parts = [own, places - own];
  const [ofWindows, ofPast] = tf.split(shares, parts, -1);
  const [inWindows, inPast] = tf.split(values!, parts, 2);
  return byToken(tf.add(tf.matMul(ofWindows!, inWindows!), tf.matMul(ofPast!, inPast!)), view);
}
