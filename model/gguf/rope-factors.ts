import type { Llama3Scaling } from '../config/architecture.ts';
import { inverseFrequencies } from '../decoder/rope.ts';

/** The scalings of Llama 3.1 (8) and 3.2 (32): a file holds factors that follow from them, not the scalings. */
const published: readonly Llama3Scaling[] = [8, 32].map((factor) => ({
  type: 'llama3',
  factor,
  lowFrequencyTurns: 1,
  highFrequencyTurns: 4,
  originalPositions: 8192,
}));

/** The scaling whose frequencies are the plain ones divided by these factors; undefined unless it is a published one. */
export function llama3ScalingOf(
  factors: Float32Array,
  { theta, dimensions }: { theta: number; dimensions: number },
): Llama3Scaling | undefined {
  const plain = inverseFrequencies(dimensions, theta);
  return published.find((scaling) => {
    const scaled = inverseFrequencies(dimensions, theta, scaling);
    return (
      factors.length === plain.length &&
      factors.every((factor, i) => Math.abs((scaled[i]! * factor) / plain[i]! - 1) < 1e-5)
    );
  });
}
