import { repeated, tf, type Tensor } from '../../agent_rl/engine/ops.ts';
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
  hide,
  type KeysAndValues,
  rotate,
  upTo,
  type View,
} from './step-attention.ts';
import { windowTokens } from './windows.ts';
import type { ModelConfig } from '../config/architecture.ts';

/** What S steps, one after another, feed to each of R sequences, in caches that hold C tokens. */
export interface DecodeStepsInputs {
  /** [S, R] int32: -1 where what the step before drew is fed. */
  tokens: Tensor;
  /** [S, R, hd] from `ropeTables`. */
  cos: Tensor;
  sin: Tensor;
  /** [S]: 0, 1, 2 ... */
  steps: Tensor;
  /** [R]: where the window of a row's first token begins, and how far from there it stands. */
  starts: Tensor;
  offsets: Tensor;
  /** [C]: the positions of the caches, from 0 on. */
  positions: Tensor;
  /** For each layer, what stands before the window, [R, kv, C, hd]. */
  past: readonly KeysAndValues[];
  /** For each layer, what the window holds already, [R, kv, windowTokens, hd]. */
  recent: readonly KeysAndValues[];
}

/** What S steps of R sequences drew. */
export interface DecodeStepsOutputs {
  /** [S, R] int32 and float32, as `draw` gave them. */
  next: Tensor;
  logProbs: Tensor;
  /** For each layer, the keys and values of the fed tokens, [R, kv, S, hd]. */
  fresh: readonly KeysAndValues[];
}

/** Takes the row of one step, [...], from the rows of all steps, [S, ...]; the number of the step is [1] int32. */
export type OfStep = (all: Tensor) => Tensor;

/** What rows draw after a step: logits [R, V] -> tokens [R] int32 and their log-probabilities [R]. */
export type DrawStep = (logits: Tensor, ofStep: OfStep) => { next: Tensor; logProbs: Tensor };

/**
 * The forward passes of several tokens of each sequence, one after another: each is given or drawn after the one before. A row reads the
 * caches as they were, and beside them the tokens of the steps so far.
 */
export function decodeSteps(
  config: ModelConfig,
  parameters: Parameters,
  inputs: DecodeStepsInputs,
  draw: DrawStep,
): DecodeStepsOutputs {
  const decoder: Decoder = { config, parameters };
  const [steps, rows] = inputs.tokens.shape as [number, number];
  const cached = inputs.past.map((past, layer) => joined(past, inputs.recent[layer]!));
  const hidden = hiddenOf(inputs);
  const none = tf.broadcastTo(tf.scalar(0), [rows, config.kvHeads, steps, config.headDim]);
  const before = [
    tf.broadcastTo(tf.scalar(0, 'int32'), [rows]),
    ...cached.flatMap(() => [none, none]),
  ];
  const { carried, given } = repeated(steps, before, ([drawn, ...entries], number) => {
    const ofStep: OfStep = (all) => tf.squeeze(tf.gather(all, number), [0]);
    const turned = { cos: ofStep(inputs.cos), sin: ofStep(inputs.sin) };
    const isOwn = tf.reshape(tf.equal(tf.cast(inputs.steps, 'int32'), number), [1, 1, steps, 1]);
    const notYet = tf.reshape(tf.greater(inputs.steps, number), [1, 1, 1, 1, steps]);
    const ofDrawn = tf.mul(hide(notYet), tf.ones([rows, 1, 1, 1, 1]));
    const view: View = { rows, count: 1, mask: tf.concat([ofDrawn, hidden], -1) };
    const tokens = ofStep(inputs.tokens);
    let state = embed(decoder, tf.where(tf.less(tokens, tf.zerosLike(tokens)), drawn!, tokens));
    const left: Tensor[] = [];
    for (let layer = 0; layer < config.layers; layer++) {
      const heads = rotate(projectHeads(decoder, layer, state), turned);
      const [keys, values] = [heads.keys, heads.values].map((own, place) =>
        tf.where(isOwn, tf.expandDims(own, 2), entries[2 * layer + place]!),
      );
      left.push(keys!, values!);
      const parts = [{ keys: keys!, values: values! }, cached[layer]!] as const;
      state = finishLayer(decoder, layer, state, attendParts(config, heads.queries, parts, view));
    }
    const logits = tf.matMul(finalNorm(decoder, state), lmHead(decoder), false, true);
    const { next, logProbs } = draw(logits, ofStep);
    return { carried: [next, ...left], given: [next, logProbs] };
  });
  const [next, logProbs] = given;
  const fresh = cached.map((_, layer) => ({
    keys: carried[1 + 2 * layer]!,
    values: carried[2 + 2 * layer]!,
  }));
  return { next: next!, logProbs: logProbs!, fresh };
}

const ofRows = (some: Tensor): Tensor => tf.reshape(some, [-1, 1, 1, 1, 1]);

/** Added to the scores of what the caches hold, [R, 1, 1, 1, C + windowTokens]. */
function hiddenOf({ starts, offsets, positions }: DecodeStepsInputs): Tensor {
  const inPast = tf.greaterEqual(tf.reshape(positions, [1, 1, 1, 1, -1]), ofRows(starts));
  const inWindow = tf.greaterEqual(upTo(windowTokens, [1, 1, 1, 1, windowTokens]), ofRows(offsets));
  return tf.concat([hide(inPast), hide(inWindow)], -1);
}

const joined = (a: KeysAndValues, b: KeysAndValues): KeysAndValues => ({
  keys: tf.concat([a.keys, b.keys], 2),
  values: tf.concat([a.values, b.values], 2),
});
