import { AgentRlError } from '../../../core/errors.ts';

/**
 * A vector scaled to length 1.
 *
 * @throws AgentRlError `EMBEDDING_FAILED` for one without a direction
 */
export function unitVector(values: ArrayLike<number>, source: string): Float32Array {
  const vector = Float32Array.from(values);
  const length = Math.hypot(...vector);
  if (!(length > 0 && Number.isFinite(length))) {
    throw new AgentRlError(
      'EMBEDDING_FAILED',
      `${source} gave a vector of length ${length}. It must be finite and not zero.`,
    );
  }
  return vector.map((value) => value / length);
}
