import { biasCorrections, clipScale } from '../../algorithms/adamw.ts';
import type { OptimStepMetrics, OptimStepOptions } from '../../core/services/learner.ts';
import { piecesOf, updatePiece } from './update-piece.ts';

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
    // In the order of the parameters, whatever the order gradients came in: the sum's last bits depend on it.
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
