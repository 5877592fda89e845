/** Hands on what arrives in any order by its place, from 0 without gaps. */
export class InOrder<Item> {
  readonly #early = new Map<number, Item>();
  #next = 0;

  constructor(private readonly handOn: (item: Item) => void) {}

  put(place: number, item: Item): void {
    this.#early.set(place, item);
    for (;;) {
      const next = this.#early.get(this.#next);
      if (next === undefined) return;
      this.#early.delete(this.#next);
      this.#next += 1;
      this.handOn(next);
    }
  }
}
