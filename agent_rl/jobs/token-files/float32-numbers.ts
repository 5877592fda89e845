import { AgentRlError } from '../../core/errors.ts';

/**
 * Float32 values as numbers that JSON writes shortly, and that are the same float32 values when read back.
 *
 * @param where names the place of a value that is not a number
 * @throws AgentRlError `ENGINE_FAILED` for a value that JSON cannot hold.
 */
export function float32Numbers(values: Iterable<number>, where: string): number[] {
  return Array.from(values, (value, index) => {
    // Any float32 is the only one nearest to its 9 digits.
    if (Number.isFinite(value)) return Number(value.toPrecision(9));
    throw new AgentRlError(
      'ENGINE_FAILED',
      `${where}: log-probability ${index} is ${value}. The model's numbers overflow: check its weights; if they are quantized, score it without --quantize.`,
    );
  });
}
