import type { KvPrefix } from './cache/kv-rows.ts';

export interface PrefixCacheLimits {
  prefixes: number;
  /** Of all prefixes together; the newest one is kept whatever its length. */
  tokens: number;
}

/** Keys and values of recent prompts by their tokens, so that a group's shared prompt is computed once. */
export class PrefixCache {
  readonly #entries = new Map<string, { tokens: number; prefix: Promise<KvPrefix> }>();
  #tokens = 0;

  constructor(private readonly limits: PrefixCacheLimits) {}

  /** The prefix for these tokens, computed when it is not at hand. */
  get(tokens: readonly number[], compute: () => Promise<KvPrefix>): Promise<KvPrefix> {
    const key = tokens.join(',');
    const entry = this.#entries.get(key) ?? this.#begin(tokens.length, key, compute);
    this.#delete(key);
    this.#entries.set(key, entry);
    this.#tokens += entry.tokens;
    for (const oldest of this.#entries.keys()) {
      if (this.#fits) break;
      this.#delete(oldest);
    }
    return entry.prefix;
  }

  /** What could not be computed is not remembered. */
  #begin(tokens: number, key: string, compute: () => Promise<KvPrefix>) {
    const entry = { tokens, prefix: compute() };
    entry.prefix.catch(() => {
      if (this.#entries.get(key) === entry) this.#delete(key);
    });
    return entry;
  }

  clear(): void {
    this.#entries.clear();
    this.#tokens = 0;
  }

  get #fits(): boolean {
    const { size } = this.#entries;
    const { prefixes, tokens } = this.limits;
    return size <= 1 || (size <= prefixes && this.#tokens <= tokens);
  }

  #delete(key: string): void {
    this.#tokens -= this.#entries.get(key)?.tokens ?? 0;
    this.#entries.delete(key);
  }
}
