import type { ModelConfig } from './model-config.ts';

/**
 * Cosines and sines of rotary embeddings (Su et al. 2021, https://arxiv.org/abs/2104.09864), in the half-split
 * layout of `rotate_half`: entry i and entry i + headDim / 2 turn by the same angle.
 */
export interface RopeTables {
  /** [positions, headDim] */
  readonly cos: Float32Array;
  /** [positions, headDim] */
  readonly sin: Float32Array;
}

/** Radians per position of each pair: theta^(-2i / headDim), for i < headDim / 2. */
export function inverseFrequencies(headDim: number, theta: number): Float64Array {
  return new Float64Array(headDim / 2).map((_, i) => theta ** ((-2 * i) / headDim));
}

/** Tables for the given positions, one row each. */
export function ropeTables(
  { headDim, ropeTheta }: Pick<ModelConfig, 'headDim' | 'ropeTheta'>,
  positions: ArrayLike<number>,
): RopeTables {
  const half = headDim / 2;
  const frequencies = inverseFrequencies(headDim, ropeTheta);
  const cos = new Float32Array(positions.length * headDim);
  const sin = new Float32Array(positions.length * headDim);
  for (let row = 0; row < positions.length; row++) {
    for (let i = 0; i < half; i++) {
      const angle = positions[row]! * frequencies[i]!;
      const at = row * headDim + i;
      cos[at] = cos[at + half] = Math.cos(angle);
      sin[at] = sin[at + half] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** Tables for positions 0 to length - 1. */
export function ropeTablesUpTo(
  config: Pick<ModelConfig, 'headDim' | 'ropeTheta'>,
  length: number,
): RopeTables {
  return ropeTables(
    config,
    Array.from({ length }, (_, position) => position),
  );
}
