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
import { hide, type KeysAndValues, rotate, upTo } from './step-attention.ts';
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
  /** Of each layer what stands before the window, [R, kv, C, hd]. */
  past: readonly KeysAndValues[];
  /** Of each layer what the window holds already, [R, kv, windowTokens, hd]. */
  recent: readonly KeysAndValues[];
}

/** What S steps of R sequences drew. */
export interface DecodeStepsOutputs {
  /** [S, R] int32 and float32, as `draw` gave them. */
  next: Tensor;
  logProbs: Tensor;
  /** Of each layer the keys and values of the tokens fed, [R, kv, S, hd]. */
  fresh: readonly KeysAndValues[];
}

/** Takes the row of each step, [...], from those of all, [S, ...]; the number of the step is [1] int32. */
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
    const view: StepView = {
      cos: ofStep(inputs.cos),
      sin: ofStep(inputs.sin),
      hidden,
      notYet: hide(tf.reshape(tf.greater(inputs.steps, number), [1, 1, 1, steps])),
      isOwn: tf.reshape(tf.equal(tf.cast(inputs.steps, 'int32'), number), [1, 1, steps, 1]),
    };
    const tokens = ofStep(inputs.tokens);
    let state = embed(decoder, tf.where(tf.less(tokens, tf.zerosLike(tokens)), drawn!, tokens));
    const left: Tensor[] = [];
    for (let layer = 0; layer < config.layers; layer++) {
      const heads = rotate(projectHeads(decoder, layer, state), view);
      const [keys, values] = [heads.keys, heads.values].map((own, place) =>
        tf.where(view.isOwn, tf.expandDims(own, 2), entries[2 * layer + place]!),
      );
      left.push(keys!, values!);
      const seen = { cached: cached[layer]!, drawn: { keys: keys!, values: values! } };
      state = finishLayer(decoder, layer, state, attend(config, heads.queries, seen, view));
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

/** What the tokens of a step see. */
interface StepView {
  /** [R, hd] */
  cos: Tensor;
  sin: Tensor;
  /** Added to scores: of what the caches hold, [R, 1, 1, C + windowTokens], and of the steps, [1, 1, 1, S]. */
  hidden: Tensor;
  notYet: Tensor;
  /** Which of the steps this is, [1, 1, S, 1] bool. */
  isOwn: Tensor;
}

const ofRows = (some: Tensor): Tensor => tf.reshape(some, [-1, 1, 1, 1]);

/** Added to the scores of what the caches hold, [R, 1, 1, C + windowTokens]. */
function hiddenOf({ starts, offsets, positions }: DecodeStepsInputs): Tensor {
  const inPast = tf.greaterEqual(tf.reshape(positions, [1, 1, 1, -1]), ofRows(starts));
  const inWindow = tf.greaterEqual(upTo(windowTokens, [1, 1, 1, windowTokens]), ofRows(offsets));
  return tf.concat([hide(inPast), hide(inWindow)], -1);
}

const joined = (a: KeysAndValues, b: KeysAndValues): KeysAndValues => ({
  keys: tf.concat([a.keys, b.keys], 2),
  values: tf.concat([a.values, b.values], 2),
});

/** Attention of one token of each row, queries [R, H, hd], over the caches and over the steps so far: [R, H * hd] */
function attend(
  { heads, kvHeads, headDim }: ModelConfig,
  queries: Tensor,
  { cached, drawn }: { cached: KeysAndValues; drawn: KeysAndValues },
  { hidden, notYet }: StepView,
): Tensor {
  const split = tf.reshape(queries, [-1, kvHeads, heads / kvHeads, headDim]);
  const scaled = tf.mul(split, 1 / Math.sqrt(headDim));
  const on = (keys: Tensor): Tensor => tf.matMul(scaled, keys, false, true);
  const scores = [tf.add(on(cached.keys), hidden), tf.add(on(drawn.keys), notYet)];
  const places = [cached, drawn].map(({ keys }) => keys.shape[2]!);
  const [ofCached, ofDrawn] = tf.split(tf.softmax(tf.concat(scores, -1)), places, -1);
  const mixed = tf.add(tf.matMul(ofCached!, cached.values), tf.matMul(ofDrawn!, drawn.values));
  return tf.reshape(mixed, [-1, heads * headDim]);
}
