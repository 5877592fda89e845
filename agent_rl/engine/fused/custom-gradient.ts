import type { Tensor } from '@tensorflow/tfjs';
import { tfjs } from '../tfjs.ts';

/** A function with the gradient worked out by hand. */
export interface CustomGradient {
  /** Value of the function, and what its gradient will need. */
  forward: () => { value: Tensor; saved: readonly Tensor[] };
  /** Gradient of every input, in order, from that of the value and what was saved. */
  backward: (dy: Tensor, saved: readonly Tensor[]) => Tensor[];
}

/** Applies such a function: tfjs's `customGrad`, with its untyped arguments kept in one place. */
export function withCustomGradient(
  inputs: readonly Tensor[],
  { forward, backward }: CustomGradient,
): Tensor {
  const operation = tfjs.customGrad((...args) => {
    const save: unknown = args.at(-1);
    const { value, saved } = forward();
    if (typeof save === 'function') Reflect.apply(save, undefined, [[...saved]]);
    return { value, gradFunc: (dy: Tensor, kept: Tensor[]) => backward(dy, kept) };
  });
  return operation(...inputs);
}
