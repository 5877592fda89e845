import type { KvPrefix } from './kv-cache.ts';

/** Keys and values of recent prompts by their tokens, so that a group's shared prompt is computed once. */
export class PrefixCache {
  readonly #entries = new Map<string, Promise<KvPrefix>>();

  constructor(private readonly limit: number) {}

  /** The prefix for these tokens, computed when it is not at hand. */
  get(tokens: readonly number[], compute: () => Promise<KvPrefix>): Promise<KvPrefix> {
    const key = tokens.join(',');
    const entry = this.#entries.get(key) ?? compute();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.limit) break;
      this.#entries.delete(oldest);
    }
    return entry;
  }

  clear(): void {
    this.#entries.clear();
  }
}
