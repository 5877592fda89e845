import { AgentRlError } from '../core/errors.ts';
import type { Program } from './engine.ts';

/**
 * Programs by key, at most `capacity` of them; the least recently used is disposed first. A cached program keeps
 * its peak memory, so the cap bounds what compiled shapes hold.
 */
export class ProgramCache<Kept extends Pick<Program, 'dispose'> = Program> {
  readonly #programs = new Map<string, Promise<Kept>>();

  constructor(private readonly capacity: number) {
    if (Number.isInteger(capacity) && capacity >= 1) return;
    throw new AgentRlError(
      'ENGINE_FAILED',
      `A program cache must hold at least 1 program, got a capacity of ${capacity}.`,
    );
  }

  get size(): number {
    return this.#programs.size;
  }

  /** The program of `key`, made by `compile` when absent. A failed compilation is not remembered. */
  async get(key: string, compile: () => Promise<Kept>): Promise<Kept> {
    const known = this.#programs.get(key);
    if (known !== undefined) {
      this.#programs.delete(key);
      this.#programs.set(key, known);
      return known;
    }
    while (this.#programs.size >= this.capacity) await this.#evictOldest();
    const made = compile();
    this.#programs.set(key, made);
    try {
      return await made;
    } catch (thrown) {
      if (this.#programs.get(key) === made) this.#programs.delete(key);
      throw thrown;
    }
  }

  /** Disposes every program. */
  async clear(): Promise<void> {
    while (this.#programs.size > 0) await this.#evictOldest();
  }

  async #evictOldest(): Promise<void> {
    const [key, program] = this.#programs.entries().next().value!;
    this.#programs.delete(key);
    await (await program).dispose();
  }
}

export interface BucketOptions {
  /** Every bucket is a multiple of this. */
  multipleOf: number;
  /** Ratio of one bucket to the one before, above 1. */
  growth?: number;
}

/**
 * The smallest bucket that holds `n`. Buckets start at `multipleOf` and each is the last times `growth`, rounded
 * up to a multiple: few distinct shapes are compiled, and padding wastes at most a known share.
 */
export function bucketSize(n: number, { multipleOf, growth = 1.25 }: BucketOptions): number {
  if (!(n >= 0) || !(multipleOf >= 1) || !(growth > 1)) {
    throw new AgentRlError(
      'ENGINE_FAILED',
      `bucketSize: n must be >= 0, multipleOf >= 1 and growth > 1, got ${n}, ${multipleOf} and ${growth}.`,
    );
  }
  let bucket = multipleOf;
  while (bucket < n) {
    const grown = Math.ceil((bucket * growth) / multipleOf) * multipleOf;
    bucket = Math.max(grown, bucket + multipleOf);
  }
  return bucket;
}
