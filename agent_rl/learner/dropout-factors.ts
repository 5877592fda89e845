import { philox4x32, type KeyedRng } from '../core/keyed-rng.ts';
import type { TrainDatum } from '../core/services/learner.ts';

export interface DropoutOptions {
  /** Share dropped. */
  rate: number;
  /** Tokens a sequence is padded to. */
  length: number;
  /** [sequences x length, width] */
  shape: readonly number[];
  rng: KeyedRng;
}

/**
 * 0 where an input of a layer is dropped, 1 / (1 - rate) where it is kept, 0 in the padding. What a sequence's are is
 * keyed by its tokens: they are the same whatever shares the batch.
 */
export function dropoutFactors(
  data: readonly Pick<TrainDatum, 'tokens'>[],
  { rate, length, shape, rng }: DropoutOptions,
): Float32Array {
  const [rows = 0, width = 0] = shape;
  const factors = new Float32Array(rows * width);
  const kept = 1 / (1 - rate);
  // A draw has 16 bits; eight of them come from one block of the generator.
  const dropped = Math.round(rate * 0x10000);
  for (const [row, { tokens }] of data.entries()) {
    const keys = rng.child(tokens.join());
    const key = [keys.integer(2 ** 32), keys.integer(2 ** 32)] as const;
    const start = row * length * width;
    const end = start + tokens.length * width;
    for (let at = start, block = 0; at < end; block++) {
      for (const word of philox4x32([block, 0, 0, 0], key)) {
        if (at < end) factors[at++] = word >>> 16 < dropped ? 0 : kept;
        if (at < end) factors[at++] = (word & 0xffff) < dropped ? 0 : kept;
      }
    }
  }
  return factors;
}
