import { AgentRlError } from '../../core/errors.ts';
import type { Graph } from './graph.ts';
import type { Value } from './value.ts';

/** tfjs gives kernels their attributes untyped; each kernel states what it reads. */
export type KernelAttributes = Readonly<Record<string, unknown>>;

/** Records one tfjs kernel in a graph. */
export type TraceKernel = (
  graph: Graph,
  inputs: Readonly<Record<string, Value>>,
  attributes: KernelAttributes,
) => Value | Value[];

export type KernelTable = Readonly<Record<string, TraceKernel>>;

/** A required input of a kernel. */
export function inputOf(inputs: Readonly<Record<string, Value>>, name: string): Value {
  const value = inputs[name];
  if (value !== undefined) return value;
  throw new AgentRlError(
    'NOT_TRACEABLE',
    `A traced kernel was called without its input "${name}".`,
  );
}

/** A value computed by the node output `name`. */
export const computed = (
  name: string,
  shape: readonly number[],
  dtype: Value['dtype'] = 'float32',
): Value => ({ shape, dtype, source: { kind: 'node', name } });
