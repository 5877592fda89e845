/** Sets that are joined one pair at a time (union-find, with halved paths). */
export class Families {
  readonly #parents = new Map<string, string>();

  /** The name of an item's family: one of its members. */
  of(item: string): string {
    let current = item;
    for (;;) {
      const parent = this.#parents.get(current) ?? current;
      if (parent === current) return current;
      const above = this.#parents.get(parent) ?? parent;
      this.#parents.set(current, above);
      current = above;
    }
  }

  join(a: string, b: string): void {
    const [first, second] = [this.of(a), this.of(b)];
    if (first !== second) this.#parents.set(second, first);
  }
}
