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
      `${source} returned a vector of norm ${length}. The norm must be finite and above zero.`,
    );
  }
  return vector.map((value) => value / length);
}

/** Inner product: the cosine of vectors of length 1. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let place = 0; place < a.length; place += 1) sum += (a[place] ?? 0) * (b[place] ?? 0);
  return sum;
}
