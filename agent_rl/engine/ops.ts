import { AgentRlError } from '../core/errors.ts';
import { registerMissingGradients } from './missing-gradients.ts';
import { tfjs } from './tfjs.ts';
import { traceBackendName } from './trace/trace-backend.ts';

export type { Tensor } from '@tensorflow/tfjs';
export { causalAttention } from './fused/causal-attention.ts';
export { lowRankProduct } from './fused/low-rank-product.ts';
export { quantizedMatMul } from './fused/quantized-mat-mul.ts';
export { recomputed } from './fused/recomputed.ts';
export { rmsNorm } from './fused/rms-norm.ts';
export { ropeRotate } from './fused/rope-rotate.ts';
export { swiglu } from './fused/swiglu.ts';
export { tokenLogProbs } from './fused/token-log-probs.ts';

// Everything differentiated in this project is written with the operations below.
registerMissingGradients();

const drawsRandomNumbers = [
  'dropout',
  'multinomial',
  'rand',
  'randomGamma',
  'randomNormal',
  'randomStandardNormal',
  'randomUniform',
  'randomUniformInt',
  'truncatedNormal',
] as const;

// A drawn number would be frozen into the recorded program: the same one on every run.
const refusingToTrace = (name: (typeof drawsRandomNumbers)[number]): unknown => {
  const draw: unknown = tfjs[name];
  return (...args: unknown[]): unknown => {
    if (tfjs.getBackend() !== traceBackendName && typeof draw === 'function') {
      return Reflect.apply(draw, tfjs, args);
    }
    throw new AgentRlError(
      'NOT_TRACEABLE',
      `tf.${name} was called inside a program body; draw with core/keyed-rng.ts and pass the numbers as an input.`,
    );
  };
};

/** tfjs's `cpu` backend misreads a negative axis here. */
const cumsum: typeof tfjs.cumsum = (x, axis = 0, exclusive = false, reverse = false) => {
  const tensor = x instanceof tfjs.Tensor ? x : tfjs.tensor(x);
  return tfjs.cumsum(tensor, axis < 0 ? axis + tensor.rank : axis, exclusive, reverse);
};

/** The operations of TensorFlow.js. Random ones throw `NOT_TRACEABLE` inside a program body. */
export const tf: typeof tfjs = {
  ...tfjs,
  cumsum,
  ...Object.fromEntries(drawsRandomNumbers.map((name) => [name, refusingToTrace(name)])),
};
