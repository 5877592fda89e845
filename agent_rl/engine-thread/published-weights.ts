import { AgentRlError } from '../core/errors.ts';
import type { Weights } from '../../model/config/parameters.ts';

/**
 * The versions of the weights that an engine's generator can draw from. With no copies there is one, the weights that
 * are trained: they must not change while tokens are drawn from them. With n there are the n newest, each in arrays of
 * its own.
 */
export class PublishedWeights {
  /** Oldest first. */
  readonly #kept: { version: number; weights: Weights }[] = [];

  /** @param trained names of the tensors that change; the others are shared by all versions */
  constructor(
    readonly copies: number,
    private readonly trained: readonly string[],
  ) {}

  add(weights: Weights, version: number): void {
    const again = this.#kept.findIndex((one) => one.version === version);
    const oldest = this.#kept.length >= Math.max(1, this.copies) ? 0 : -1;
    const place = again >= 0 ? again : oldest;
    if (place >= 0) this.#kept.splice(place, 1);
    this.#kept.push({ version, weights: this.copies === 0 ? weights : this.#copy(weights) });
  }

  /** @throws AgentRlError `GENERATION_FAILED` for a version that is not held, or no longer */
  get(version: number): Weights {
    const found = this.#kept.find((one) => one.version === version);
    if (found !== undefined) return found.weights;
    const held = this.#kept.map((one) => one.version).join(', ') || 'none';
    throw new AgentRlError(
      'GENERATION_FAILED',
      `Version ${version} of the weights is not held by this engine; it holds ${held}.`,
    );
  }

  /** In new arrays: the generator may still draw from those of a version that is dropped. */
  #copy(weights: Weights): Weights {
    const copied = new Map(weights);
    for (const name of this.trained) copied.set(name, weights.get(name)!.slice());
    return copied;
  }
}
