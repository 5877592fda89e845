import { biasCorrections, clipScale } from '../algorithms/adamw.ts';
import type { OptimStepMetrics, OptimStepOptions } from '../core/learner.ts';

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
 * The same update as `algorithms/adamwStep`, on plain arrays: fetching a model's worth of outputs from a program
 * costs more than this loop. Weight decay leaves vectors (norms, biases) alone, as is usual.
 */
export class AdamwState {
  readonly gradients: Parameters;
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
    this.gradients = zeros();
    this.m = zeros();
    this.v = zeros();
  }

  accumulate(name: string, gradient: Float32Array): void {
    const sum = this.gradients.get(name) as Float32Array;
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (gradient[i] as number);
  }

  /** Applies the accumulated gradient and clears it. @throws AgentRlError `ENGINE_FAILED` when it is not finite. */
  step(options: OptimStepOptions): OptimStepMetrics {
    const gradNorm = norm(this.gradients.values());
    const scale = clipScale(gradNorm, options.maxGradNorm);
    this.steps += 1;
    for (const name of this.parameters.keys()) this.#update(name, scale, options);
    return { gradNorm, parameterNorm: norm(this.parameters.values()) };
  }

  clearGradients(): void {
    for (const sum of this.gradients.values()) sum.fill(0);
  }

  #update(name: string, scale: number, options: OptimStepOptions): void {
    const { learningRate, beta1, beta2, eps, weightDecay } = options;
    const { correction1, correction2 } = biasCorrections(this.steps, options);
    const rate = learningRate / correction1;
    const rootCorrection = 1 / Math.sqrt(correction2);
    const keep = this.decayed.has(name) ? 1 - learningRate * weightDecay : 1;
    const [param, m, v, gradient] = [this.parameters, this.m, this.v, this.gradients].map(
      (group) => group.get(name) as Float32Array,
    ) as [Float32Array, Float32Array, Float32Array, Float32Array];
    for (let i = 0; i < param.length; i++) {
      const g = (gradient[i] as number) * scale;
      const nextM = beta1 * (m[i] as number) + (1 - beta1) * g;
      const nextV = beta2 * (v[i] as number) + (1 - beta2) * g * g;
      m[i] = nextM;
      v[i] = nextV;
      param[i] =
        (param[i] as number) * keep - (rate * nextM) / (Math.sqrt(nextV) * rootCorrection + eps);
      gradient[i] = 0;
    }
  }
}
