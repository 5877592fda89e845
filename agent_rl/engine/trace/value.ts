import type { DataType } from '@tensorflow/tfjs-core';
import { AgentRlError } from '../../core/errors.ts';

/** Element types a traced value can have: the types of tfjs that have a meaning here, and bytes, which tfjs takes for int32. */
export type TraceDType = 'float32' | 'int32' | 'bool' | 'uint8';

/** tfjs's dtype as one the tracer has. @throws AgentRlError `NOT_TRACEABLE` for complex64 and string. */
export function traceDType(dtype: DataType): TraceDType {
  if (dtype === 'float32' || dtype === 'int32' || dtype === 'bool') return dtype;
  throw new AgentRlError(
    'NOT_TRACEABLE',
    `Tensors of type ${dtype} cannot be traced; use float32, int32 or bool.`,
  );
}

/** Where a traced value comes from. */
type ValueSource =
  | { kind: 'node'; name: string }
  | { kind: 'constant'; data: ArrayLike<number> }
  /** Every element is the same number; held as that number until a node needs the whole. */
  | { kind: 'uniform'; number: number }
  /** A smaller value repeated along broadcast axes; expanded only when a node needs the whole. */
  | { kind: 'broadcast'; of: Value };

/** A tensor of known shape and unknown elements, as the tracer sees it. */
export interface Value {
  shape: readonly number[];
  dtype: TraceDType;
  source: ValueSource;
}

/** A value computed by the node output `name`. */
export const computed = (
  name: string,
  shape: readonly number[],
  dtype: TraceDType = 'float32',
): Value => ({ shape, dtype, source: { kind: 'node', name } });

export const uniform = (
  number: number,
  shape: readonly number[],
  dtype: TraceDType = 'float32',
): Value => ({ shape, dtype, source: { kind: 'uniform', number } });

export const sameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((size, axis) => size === b[axis]);

/** `value` repeated to `shape`, to which it must be broadcastable. */
export function broadcast(value: Value, shape: readonly number[]): Value {
  if (sameShape(value.shape, shape)) return value;
  if (value.source.kind === 'uniform') return uniform(value.source.number, shape, value.dtype);
  const of = value.source.kind === 'broadcast' ? value.source.of : value;
  return { shape, dtype: value.dtype, source: { kind: 'broadcast', of } };
}

/** The smallest value that broadcasts to `value`. */
export function narrowed(value: Value): Value {
  if (value.source.kind === 'broadcast') return value.source.of;
  return value.source.kind === 'uniform' ? uniform(value.source.number, [], value.dtype) : value;
}

/** The single number every element equals, when that is known. */
export const uniformNumber = (value: Value): number | undefined =>
  value.source.kind === 'uniform' ? value.source.number : undefined;
