import { AgentRlError } from '../core/errors.ts';
import type { DType, TensorData, TensorSpec } from './engine.ts';

/** Number of elements of a shape. */
export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

const arrayOf: Readonly<Record<DType, new (length: number) => TensorData>> = {
  float32: Float32Array,
  int32: Int32Array,
  uint8: Uint8Array,
};

const describe = (spec: TensorSpec): string => `${spec.dtype} [${spec.shape.join(', ')}]`;

/**
 * Checks that `data` can hold what `spec` says.
 *
 * @throws AgentRlError `SHAPE_MISMATCH` naming the tensor.
 */
export function checkTensorData(spec: TensorSpec, data: TensorData | undefined): TensorData {
  if (data === undefined) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `Tensor "${spec.name}" is missing; give ${describe(spec)} under that name.`,
    );
  }
  if (!(data instanceof arrayOf[spec.dtype])) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `Tensor "${spec.name}" must be ${describe(spec)}, got a ${data.constructor.name}.`,
    );
  }
  if (data.length !== sizeOf(spec.shape)) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `Tensor "${spec.name}" must be ${describe(spec)}, ${sizeOf(spec.shape)} elements, got ${data.length}.`,
    );
  }
  return data;
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
  if (unknown !== undefined) {
    throw new AgentRlError(
      'SHAPE_MISMATCH',
      `Tensor "${unknown}" is not an input of this program; its inputs are ${[...known].join(', ')}.`,
    );
  }
}
