/** Element types a traced value can have: those of tfjs that have a meaning here, and bytes, which tfjs takes for int32. */
export type TraceDType = 'float32' | 'int32' | 'bool' | 'uint8';

/** Whether `dtype` is one that tfjs has as well. */
export const isTraceDType = (dtype: unknown): dtype is Exclude<TraceDType, 'uint8'> =>
  dtype === 'float32' || dtype === 'int32' || dtype === 'bool';

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
