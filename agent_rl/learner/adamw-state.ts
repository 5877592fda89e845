import { biasCorrections, clipScale } from '../algorithms/adamw.ts';
import type { OptimStepMetrics, OptimStepOptions } from '../core/services/learner.ts';

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

  /** Applies the accumulated gradient and clears it. @throws AgentRlError `ENGINE_FAILED` when it is not finite. */
  step(options: OptimStepOptions): Required<OptimStepMetrics> {
    // In the order of the parameters, whatever the order gradients came in: the sum's last bits depend on it.
    const gradients = [...this.parameters.keys()].flatMap(
      (name) => this.#gradients.get(name) ?? [],
    );
    const gradNorm = norm(gradients);
    const scale = clipScale(gradNorm, options.maxGradNorm);
    this.steps += 1;
    let squares = 0;
    for (const name of this.parameters.keys()) squares += this.#update(name, scale, options);
    this.clearGradients();
    return { gradNorm, parameterNorm: Math.sqrt(squares) };
  }

  clearGradients(): void {
    this.#gradients.clear();
  }

  /** Returns the sum of the squares of the new values: another pass over them would cost a sixth of this one. */
  #update(name: string, scale: number, options: OptimStepOptions): number {
    const { learningRate, beta1, beta2, eps, weightDecay } = options;
    const { correction1, correction2 } = biasCorrections(this.steps, options);
    const rate = learningRate / correction1;
    const rootCorrection = 1 / Math.sqrt(correction2);
    const keep = this.decayed.has(name) ? 1 - learningRate * weightDecay : 1;
    const [param, m, v] = [this.parameters, this.m, this.v].map(
      (group) => group.get(name) as Float32Array,
    ) as [Float32Array, Float32Array, Float32Array];
    const gradient = this.#gradients.get(name) ?? new Float32Array(param.length);
    let squares = 0;
    for (let i = 0; i < param.length; i++) {
      const g = (gradient[i] as number) * scale;
      const nextM = beta1 * (m[i] as number) + (1 - beta1) * g;
      const nextV = beta2 * (v[i] as number) + (1 - beta2) * g * g;
      m[i] = nextM;
      v[i] = nextV;
      const next =
        (param[i] as number) * keep - (rate * nextM) / (Math.sqrt(nextV) * rootCorrection + eps);
      param[i] = next;
      squares += next * next;
    }
    return squares;
  }
}
