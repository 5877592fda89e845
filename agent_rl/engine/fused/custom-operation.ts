/** What operations with a traced form or a gradient of their own are made of. */
import { tfjs as tf, type Tensor } from '../tfjs.ts';
import type { Graph } from '../trace/graph.ts';
import { traceBackend } from '../trace/install.ts';
import { traceBackendName } from '../trace/trace-backend.ts';
import { computed, type Value } from '../trace/value.ts';

/** One operation in two forms that compute the same: tfjs operations, and nodes of a graph. */
export interface FusedForms {
  composed: () => Tensor[];
  traced: (graph: Graph, inputs: readonly Value[]) => Value[];
}

/**
 * The outputs of an operation on `inputs`, by its traced form while a program is being recorded and by its
 * composed form on every other backend. No gradient is derived through it: use it inside `customGrad`.
 */
export function fused(inputs: readonly Tensor[], { composed, traced }: FusedForms): Tensor[] {
  if (tf.getBackend() !== traceBackendName) return composed();
  const backend = traceBackend();
  const values = inputs.map((input) => backend.lookUp(input));
  return traced(backend.graph, values).map((value) => backend.tensorOf(value));
}

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
  const operation = tf.customGrad((...args) => {
    const save: unknown = args.at(-1);
    const { value, saved } = forward();
    if (typeof save === 'function') Reflect.apply(save, undefined, [[...saved]]);
    return { value, gradFunc: (dy: Tensor, kept: Tensor[]) => backward(dy, kept) };
  });
  return operation(...inputs);
}

/**
 * `x`, available only once `earlier` has been computed. A recorded program is executed in an order that follows its
 * arrows alone: without one, what is meant to be computed late may be computed early and held.
 *
 * @param x - float32, any shape
 * @param earlier - float32, of rank 1 or more
 */
export function computedAfter(x: Tensor, ...earlier: readonly Tensor[]): Tensor {
  return fused([x, ...earlier], {
    composed: () => [tf.clone(x)],
    traced: (graph, [value, ...first]) => {
      const corners = first.map((one) => cornerOf(graph, one));
      const sum = corners.reduce((before, corner) => graph.emitKnown('Add', [before, corner]));
      const nothing = graph.emitKnown('Mul', [sum, graph.scalar(0)]);
      return [computed(graph.emit('Add', [graph.nameOf(value!), nothing]), value!.shape)];
    },
  })[0]!;
}

/** Its first number, as a scalar, which fits whatever the rank of another tensor is. */
function cornerOf(graph: Graph, value: Value): string {
  const bounds = [0, 1].map((bound) => graph.int64s(value.shape.map(() => bound)));
  const shape = value.shape.map(() => 1);
  const corner = graph.emitKnown('Slice', [graph.nameOf(value), ...bounds], { shape });
  return graph.emitKnown('Squeeze', [corner]);
}

/** Into how many parts of at most `most` a `count` is divided: a part of one row would be computed differently. */
export const partsOf = (count: number, most: number): number =>
  Math.max(1, Math.ceil(count / Math.max(2, most)));

/** `count` as sizes that differ by one at most. */
export const evenParts = (count: number, parts: number): readonly number[] =>
  Array.from(
    { length: parts },
    (_, i) => Math.floor((count * (i + 1)) / parts) - Math.floor((count * i) / parts),
  );
