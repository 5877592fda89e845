import { AgentRlError } from '../core/errors.ts';
import type { DType, TensorData, TensorSpec } from './engine.ts';

/** Number of elements of a shape. */
export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

const arrayOf: Readonly<Record<DType, new (length: number) => TensorData>> = {
  float32: Float32Array,
  int32: Int32Array,
  uint8: Uint8Array,
};

/**
 * Checks that `data` can hold what `spec` says.
 *
 * @throws AgentRlError `SHAPE_MISMATCH` naming the tensor.
 */
export function checkTensorData(
  { name, shape, dtype }: TensorSpec,
  data: TensorData | undefined,
): TensorData {
  const expected = `${dtype} [${shape.join(', ')}]`;
  if (data === undefined) throw mismatch(name, `is missing; pass ${expected} under that name`);
  if (!(data instanceof arrayOf[dtype]))
    throw mismatch(name, `must be ${expected}, got a ${data.constructor.name}`);
  const size = sizeOf(shape);
  if (data.length === size) return data;
  throw mismatch(name, `must be ${expected} with ${size} elements, got ${data.length}`);
}

/**
 * Checks a whole set of inputs against its specs.
 *
 * @throws AgentRlError `SHAPE_MISMATCH` naming the first tensor that is missing, unknown or wrongly sized.
 */
export function checkInputs(
  specs: readonly TensorSpec[],
  inputs: Readonly<Record<string, TensorData>>,
): void {
  for (const spec of specs) checkTensorData(spec, inputs[spec.name]);
  const known = new Set(specs.map((spec) => spec.name));
  const unknown = Object.keys(inputs).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const all = [...known].join(', ');
  throw mismatch(unknown, `is not an input of this program; its inputs are ${all}`);
}

const mismatch = (name: string, problem: string): AgentRlError =>
  new AgentRlError('SHAPE_MISMATCH', `Tensor "${name}" ${problem}.`);
