import { biasCorrections, clipScale } from '../../algorithms/adamw.ts';
import type { OptimStepMetrics, OptimStepOptions } from '../../core/services/learner.ts';
import { piecesOf, type Moments, type StepFactors } from './update-piece.ts';
import { UpdateThreads } from './update-threads.ts';

export type Parameters = ReadonlyMap<string, Float32Array>;

/** Fewer weights are updated in less time than it takes to wake another thread and to copy its part. */
const sharedFrom = 2 ** 22;
/** More wait for memory, or for the thread that hands out the pieces. */
const mostThreads = 8;

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
 * On plain arrays: fetching a model's worth of outputs from a program costs more than this loop. Steps of large models are shared
 * between threads, with the same bits.
 */
export class AdamwState {
  readonly #gradients = new Map<string, Float32Array>();
  readonly #threads: number;
  readonly m: Parameters;
  readonly v: Parameters;
  /** Optimiser steps taken. */
  steps = 0;
  /** From the first step on. */
  #updating: UpdateThreads | undefined;
  /** What ended a step that had begun to change weights. */
  #torn: unknown;

  /** @param threads the most that take a step together, this one among them; close what has more than one */
  constructor(
    private readonly parameters: Parameters,
    private readonly decayed: ReadonlySet<string>,
    threads = 1,
  ) {
    const lengths = [...parameters].map(([name, { length }]) => [name, length] as const);
    const count = lengths.reduce((sum, [, length]) => sum + length, 0);
    this.#threads = count < sharedFrom ? 1 : Math.min(threads, mostThreads);
    const zeros = (length: number): Float32Array =>
      this.#threads === 1
        ? new Float32Array(length)
        : new Float32Array(new SharedArrayBuffer(length * Float32Array.BYTES_PER_ELEMENT));
    this.m = new Map(lengths.map(([name, length]) => [name, zeros(length)]));
    this.v = new Map(lengths.map(([name, length]) => [name, zeros(length)]));
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
   * @throws AgentRlError `ENGINE_FAILED` when it is not finite, and when one of the threads has ended: before or while weights change
   */
  step(options: OptimStepOptions): Required<OptimStepMetrics> {
    this.requireWhole();
    // In the order of the parameters, whatever the order gradients came in: the sum's last bits depend on it.
    const gradients = [...this.parameters.keys()].flatMap(
      (name) => this.#gradients.get(name) ?? [],
    );
    const gradNorm = norm(gradients);
    const scale = clipScale(gradNorm, options.maxGradNorm);
    const threads = this.#startedThreads();
    threads.requireRunning();
    this.steps += 1;
    const squares = this.#update(threads, scale, options);
    this.clearGradients();
    return { gradNorm, parameterNorm: Math.sqrt(squares.reduce((sum, part) => sum + part, 0)) };
  }

  clearGradients(): void {
    this.#gradients.clear();
  }

  /** @throws what ended a step in its middle: some weights are those after it then, and others those before it */
  requireWhole(): void {
    if (this.#torn !== undefined) throw this.#torn;
  }

  async close(): Promise<void> {
    await this.#updating?.close();
  }

  #startedThreads(): UpdateThreads {
    return (this.#updating ??= new UpdateThreads(
      this.#threads,
      [...this.parameters.keys()].map((name) => this.#momentsOf(name)),
    ));
  }

  #update(threads: UpdateThreads, scale: number, options: OptimStepOptions): Float64Array {
    const { learningRate, beta1, beta2, eps, weightDecay } = options;
    const { correction1, correction2 } = biasCorrections(this.steps, options);
    const factors: StepFactors = {
      scale,
      beta1,
      beta2,
      rate: learningRate / correction1,
      rootCorrection: 1 / Math.sqrt(correction2),
      eps,
    };
    const pieces = [...this.parameters].flatMap(([name, weights], parameter) => {
      const gradient = this.#gradients.get(name) ?? new Float32Array(weights.length);
      const kept = this.decayed.has(name) ? 1 - learningRate * weightDecay : 1;
      const moments = this.#momentsOf(name);
      return piecesOf({ parameter, from: 0, weights, gradient, kept, ...moments });
    });
    try {
      return threads.update(pieces, factors);
    } catch (thrown) {
      this.#torn = thrown;
      throw thrown;
    }
  }

  #momentsOf(name: string): Moments {
    return { m: this.m.get(name) as Float32Array, v: this.v.get(name) as Float32Array };
  }
}
