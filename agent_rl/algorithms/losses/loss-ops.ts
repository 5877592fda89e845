import type { LossOps } from '../../core/algorithm/loss-ops.ts';
import { tf, type Tensor } from '../../engine/ops.ts';

/** The value of a tensor, and a gradient of 0. */
const stopGradient = (x: Tensor): Tensor =>
  tf.customGrad(() => ({
    value: tf.clone(x),
    gradFunc: (upstream: Tensor) => tf.zerosLike(upstream),
  }))(x);

/** The engine's operations, as losses see them. */
export const lossOps = {
  add: tf.add,
  sub: tf.sub,
  mul: tf.mul,
  div: tf.div,
  neg: tf.neg,
  exp: tf.exp,
  log: tf.log,
  abs: tf.abs,
  sqrt: tf.sqrt,
  square: tf.square,
  sigmoid: tf.sigmoid,
  tanh: tf.tanh,
  minimum: tf.minimum,
  maximum: tf.maximum,
  clip: tf.clipByValue,
  less: tf.less,
  greater: tf.greater,
  and: tf.logicalAnd,
  where: tf.where,
  zerosLike: tf.zerosLike,
  stopGradient,
  // A loss knows tensors only as what it was given.
} as unknown as LossOps;
