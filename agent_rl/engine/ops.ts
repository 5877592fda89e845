import type { GradConfig } from '@tensorflow/tfjs-core';
import { AgentRlError } from '../core/errors.ts';
import { tfjs, type Tensor } from './tfjs.ts';
import { traceBackendName } from './trace/trace-backend.ts';

export type { Tensor } from './tfjs.ts';
export { causalAttention, dividedFrom } from './fused/causal-attention.ts';
export { partsOf } from './fused/custom-operation.ts';
export { lowRankProduct } from './fused/low-rank-product.ts';
export { quantizedMatMul } from './fused/quantized-mat-mul.ts';
export { recomputed } from './fused/recomputed.ts';
export { repeated } from './fused/repeated.ts';
export { rmsNorm } from './fused/rms-norm.ts';
export { ropeRotate } from './fused/rope-rotate.ts';
export { swiglu } from './fused/swiglu.ts';
export { tokensOfBlock, treeAttention, type TreeLayoutInputs } from './fused/tree-attention.ts';
export { tokenDistribution, tokenLogProbs, topTokens } from './fused/token-log-probs.ts';

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

/** Sums `gradient`, of a broadcast result, back to the shape of the operand it came from. */
const unbroadcast = (gradient: Tensor, shape: number[]): Tensor => {
  const axes = tfjs.broadcast_util.getReductionAxes(shape, gradient.shape);
  return tfjs.reshape(axes.length > 0 ? tfjs.sum(gradient, axes) : gradient, shape);
};

/** tfjs gives a list to kernels with several outputs only; none of these has. */
const only = (dy: Tensor | Tensor[]): Tensor => (Array.isArray(dy) ? dy[0]! : dy);

/** Comparisons are constant almost everywhere. tfjs asks for their gradient when `where` uses them. */
const zeroGradient = (kernelName: string, inputsToSave: string[]): GradConfig => ({
  kernelName,
  inputsToSave,
  gradFunc: (_dy, saved) =>
    Object.fromEntries(
      inputsToSave.map((name, index) => [name, () => tfjs.zeros(saved[index]!.shape, 'float32')]),
    ),
});

type Comparison = (a: Tensor, b: Tensor) => Tensor;

/** tfjs's own gradient of `maximum` and `minimum` is wrong where an operand was broadcast. */
const chosenGradient = (kernelName: string, first: Comparison): GradConfig => ({
  kernelName,
  inputsToSave: ['a', 'b'],
  gradFunc: (dy, [a, b]) => {
    const takesA = first(a!, b!);
    const part = (taken: Tensor): Tensor => tfjs.mul(only(dy), tfjs.cast(taken, 'float32'));
    return {
      a: () => unbroadcast(part(takesA), a!.shape),
      b: () => unbroadcast(part(tfjs.logicalNot(takesA)), b!.shape),
    };
  },
});

/** tfjs's own gradient of `cumsum` works on the last axis only, and only when it is written as a positive number. */
const cumulativeSumGradient: GradConfig = {
  kernelName: 'Cumsum',
  inputsToSave: ['x'],
  gradFunc: (dy, _saved, attributes) => {
    const [exclusive, reverse] = [Boolean(attributes['exclusive']), Boolean(attributes['reverse'])];
    return { x: () => tfjs.cumsum(only(dy), Number(attributes['axis']), exclusive, !reverse) };
  },
};

/** tfjs's own gradient of `sum` makes an array as large as what is summed, while a program is recorded too. */
const sumGradient: GradConfig = {
  kernelName: 'Sum',
  inputsToSave: ['x'],
  gradFunc: (dy, [x], attributes) => {
    const axis = attributes['axis'] as unknown as number | number[];
    const axes = new Set(tfjs.util.parseAxisParam(axis, x!.shape));
    const shape = x!.shape.map((size, own) => (axes.has(own) ? 1 : size));
    return { x: () => tfjs.mul(tfjs.reshape(only(dy), shape), tfjs.onesLike(x!)) };
  },
};

const gatherNdGradient: GradConfig = {
  kernelName: 'GatherNd',
  inputsToSave: ['params', 'indices'],
  gradFunc: (dy, [params, indices]): Record<string, () => Tensor> => ({
    params: () => tfjs.scatterND(indices!, only(dy), params!.shape),
    indices: () => tfjs.zeros(indices!.shape),
  }),
};

const comparisons = ['Equal', 'NotEqual', 'Greater', 'GreaterEqual', 'Less', 'LessEqual'];

function registerMissingGradients(): void {
  for (const name of [...comparisons, 'LogicalAnd', 'LogicalOr']) {
    tfjs.registerGradient(zeroGradient(name, ['a', 'b']));
  }
  tfjs.registerGradient(zeroGradient('LogicalNot', ['x']));
  tfjs.registerGradient(chosenGradient('Maximum', tfjs.greaterEqual));
  tfjs.registerGradient(chosenGradient('Minimum', tfjs.lessEqual));
  tfjs.registerGradient(cumulativeSumGradient);
  tfjs.registerGradient(sumGradient);
  tfjs.registerGradient(gatherNdGradient);
}

// Everything differentiated in this project is written with the operations of this module.
registerMissingGradients();
