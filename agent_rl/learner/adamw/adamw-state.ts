import { biasCorrections, clipScale } from '../../algorithms/adamw.ts';
import type { OptimStepMetrics, OptimStepOptions } from '../../core/services/learner.ts';

export type Parameters = ReadonlyMap<string, Float32Array>;

const norm = (arrays: Iterable<Float32Array>): number => {
  let sum = 0;
  for (const values of arrays)
    for (let i = 0; i < values.length; i++) sum += (values[i] as number) ** 2;
  return Math.sqrt(sum);
};

/**
 * Gradient sums and AdamW moments of a model, updated in place.
 *
 * `param' = param (1 - lr decay) - lr (m' / c1) / (sqrt(v' / c2) + eps)`, decay decoupled from the gradient.
 * Loshchilov and Hutter 2019, algorithm 2, https://arxiv.org/abs/1711.05101, with the decay multiplied by the
 * learning rate as in PyTorch. Weight decay leaves vectors (norms, biases) alone, as is usual.
 *
 * On plain arrays: fetching a model's worth of outputs from a program costs more than this loop.
 */
export class AdamwState {
  readonly #gradients = new Map<string, Float32Array>();
  readonly m: Parameters;
  readonly v: Parameters;
  /** Optimiser steps taken. */
  steps = 0;

  constructor(
    private readonly parameters: Parameters,
    private readonly decayed: ReadonlySet<string>,
  ) {
    const zeros = (): Parameters =>
      new Map([...parameters].map(([name, { length }]) => [name, new Float32Array(length)]));
    this.m = zeros();
    this.v = zeros();
  }

  /** The accumulated gradient of one parameter; absent before the first. */
  gradientOf(name: string): Float32Array | undefined {
    return this.#gradients.get(name);
  }

  /** Adds to the sum. The array may be kept, so it must not be used for anything else. */
  accumulate(name: string, gradient: Float32Array): void {
    const sum = this.#gradients.get(name);
    if (sum === undefined) {
      this.#gradients.set(name, gradient);
      return;
    }
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (gradient[i] as number);
  }

  /**
   * Applies the accumulated gradient and clears it.
   *
   * @throws AgentRlError `ENGINE_FAILED` when it is not finite, before weights change
   */
  step(options: OptimStepOptions): Required<OptimStepMetrics> {
    const { learningRate, beta1, beta2, eps, weightDecay, maxGradNorm } = options;
    // In the order of the parameters, whatever the order gradients came in: the sum depends on it, in floating point.
    const gradients = [...this.parameters.keys()].flatMap(
      (name) => this.#gradients.get(name) ?? [],
    );
    const gradNorm = norm(gradients);
    const scale = clipScale(gradNorm, maxGradNorm);
    this.steps += 1;
    const { correction1, correction2 } = biasCorrections(this.steps, options);
    const rootCorrection = 1 / Math.sqrt(correction2);
    const factors = { scale, beta1, beta2, rate: learningRate / correction1, rootCorrection, eps };
    let squares = 0;
    for (const [name, weights] of this.parameters) {
      const gradient = this.#gradients.get(name) ?? new Float32Array(weights.length);
      const kept = this.decayed.has(name) ? 1 - learningRate * weightDecay : 1;
      const [m, v] = [this.m.get(name)!, this.v.get(name)!];
      for (const piece of piecesOf({ weights, gradient, m, v, kept }))
        squares += updatePiece(piece, factors);
    }
    this.clearGradients();
    return { gradNorm, parameterNorm: Math.sqrt(squares) };
  }

  clearGradients(): void {
    this.#gradients.clear();
  }
}

/** Pieces have this many weights at most. It makes floating-point differences in the norm of all weights. */
export const pieceLength = 2 ** 16;

/** What is the same for all weights of a step. */
interface StepFactors {
  /** What gradients are multiplied by, to clip their norm. */
  scale: number;
  beta1: number;
  beta2: number;
  /** Learning rate over the bias correction of the first moment. */
  rate: number;
  /** What the root of the second moment is multiplied by, to correct its bias. */
  rootCorrection: number;
  eps: number;
}

/** Neighbouring weights of one parameter with all that a step needs of them. */
interface Piece {
  weights: Float32Array;
  gradient: Float32Array;
  m: Float32Array;
  v: Float32Array;
  /** What is left of a weight by its decay. */
  kept: number;
}

/**
 * Updates weights and moments in place.
 *
 * @returns the sum of the squares of the new weights: another pass over them would cost a sixth of this one
 */
export function updatePiece(
  { weights, gradient, m, v, kept }: Piece,
  { scale, beta1, beta2, rate, rootCorrection, eps }: StepFactors,
): number {
  let squares = 0;
  for (let i = 0; i < weights.length; i++) {
    const g = (gradient[i] as number) * scale;
    const nextM = beta1 * (m[i] as number) + (1 - beta1) * g;
    const nextV = beta2 * (v[i] as number) + (1 - beta2) * g * g;
    m[i] = nextM;
    v[i] = nextV;
    const next =
      (weights[i] as number) * kept - (rate * nextM) / (Math.sqrt(nextV) * rootCorrection + eps);
    weights[i] = next;
    squares += next * next;
  }
  return squares;
}

/** The pieces of a parameter, in its order. */
function piecesOf({ weights, gradient, m, v, kept }: Piece): Piece[] {
  return Array.from({ length: Math.ceil(weights.length / pieceLength) }, (_, at) => {
    const from = at * pieceLength;
    const part = (values: Float32Array) => values.subarray(from, from + pieceLength);
    return { weights: part(weights), gradient: part(gradient), m: part(m), v: part(v), kept };
  });
}
