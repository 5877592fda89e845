import type {
  Llama3Scaling,
  ModelConfig,
  RopeScaling,
  YarnScaling,
} from '../config/architecture.ts';

/**
 * Cosines and sines of rotary embeddings (Su et al. 2021, https://arxiv.org/abs/2104.09864), in the half-split
 * layout of `rotate_half`: entry i and entry i + headDim / 2 turn by the same angle.
 */
export interface RopeTables {
  /** [positions, headDim] */
  cos: Float32Array;
  /** [positions, headDim] */
  sin: Float32Array;
}

type RopeConfig = Pick<ModelConfig, 'headDim' | 'ropeTheta' | 'ropeScaling'>;

/** Radians per position of each pair: theta^(-2i / headDim), for i < headDim / 2, scaled where the model says so. */
export function inverseFrequencies(
  headDim: number,
  theta: number,
  scaling?: RopeScaling,
): Float64Array {
  const plain = new Float64Array(headDim / 2).map((_, i) => theta ** ((-2 * i) / headDim));
  if (scaling === undefined) return plain;
  const { type, factor } = scaling;
  if (type === 'linear') return plain.map((frequency) => frequency / factor);
  const divided =
    type === 'llama3' ? llama3Divided(scaling) : yarnDivided(scaling, { headDim, theta });
  return plain.map((frequency, i) => {
    const part = divided(frequency, i);
    return (frequency / factor) * part + frequency * (1 - part);
  });
}

/** How much of a pair, 0 to 1, is divided by the factor. */
type Divided = (frequency: number, pair: number) => number;

function llama3Divided(scaling: Llama3Scaling): Divided {
  const { originalPositions, lowFrequencyTurns: low, highFrequencyTurns: high } = scaling;
  return (frequency) => {
    const turns = (originalPositions * frequency) / (2 * Math.PI);
    return 1 - between0And1((turns - low) / (high - low));
  };
}

function yarnDivided(
  { originalPositions, betaFast, betaSlow, truncate }: YarnScaling,
  { headDim, theta }: { headDim: number; theta: number },
): Divided {
  /** The pair, as a fraction, that turns so often within the original positions. */
  const pairOf = (turns: number): number =>
    (headDim * Math.log(originalPositions / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [first, last] = [pairOf(betaFast), pairOf(betaSlow)];
  const low = Math.max(truncate ? Math.floor(first) : first, 0);
  const high = Math.min(truncate ? Math.ceil(last) : last, headDim - 1);
  // A ramp of no width is a step.
  const width = high === low ? 0.001 : high - low;
  return (_, pair) => between0And1((pair - low) / width);
}

const between0And1 = (value: number): number => Math.min(1, Math.max(0, value));

/** Tables for the given positions, one row each. */
export function ropeTables(
  { headDim, ropeTheta, ropeScaling }: RopeConfig,
  positions: ArrayLike<number>,
): RopeTables {
  const half = headDim / 2;
  const frequencies = inverseFrequencies(headDim, ropeTheta, ropeScaling);
  const length = ropeScaling?.type === 'yarn' ? ropeScaling.attentionFactor : 1;
  const cos = new Float32Array(positions.length * headDim);
  const sin = new Float32Array(positions.length * headDim);
  for (let row = 0; row < positions.length; row++) {
    for (let i = 0; i < half; i++) {
      const angle = positions[row]! * frequencies[i]!;
      const at = row * headDim + i;
      cos[at] = cos[at + half] = length * Math.cos(angle);
      sin[at] = sin[at + half] = length * Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** Tables for positions 0 to length - 1. */
export function ropeTablesUpTo(config: RopeConfig, length: number): RopeTables {
  return ropeTables(
    config,
    Int32Array.from({ length }, (_, position) => position),
  );
}
