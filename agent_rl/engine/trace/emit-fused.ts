import type { Tensor } from '@tensorflow/tfjs';
import { tfjs } from '../tfjs.ts';
import type { Graph } from './graph.ts';
import { traceBackend } from './install.ts';
import { traceBackendName } from './trace-backend.ts';
import type { Value } from './value.ts';

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
  if (tfjs.getBackend() !== traceBackendName) return composed();
  const backend = traceBackend();
  const values = inputs.map((input) => backend.lookUp(input));
  return traced(backend.graph, values).map((value) => backend.tensorOf(value));
}
