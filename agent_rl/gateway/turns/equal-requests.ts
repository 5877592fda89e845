/** Numbers requests of the same tokens, so that each of them draws by itself whenever it comes. */
export class EqualRequests {
  readonly #taken = new Map<string, Set<number>>();

  /** The first free number: of one that failed, it is taken again. */
  take(tokens: string): { count: number; free: () => void } {
    const taken = this.#taken.get(tokens) ?? new Set<number>();
    this.#taken.set(tokens, taken);
    let count = 0;
    while (taken.has(count)) count += 1;
    taken.add(count);
    const free = (): void => {
      taken.delete(count);
      if (taken.size === 0 && this.#taken.get(tokens) === taken) this.#taken.delete(tokens);
    };
    return { count, free };
  }
}
