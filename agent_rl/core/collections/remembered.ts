/** A cache by key. When it has `most` keys, a new key clears it. */
export class Remembered<Value> {
  readonly #known = new Map<string, Value>();

  constructor(private readonly most: number) {}

  /** The cached value of the key, or else the result of `make`. */
  get(key: string, make: () => Value): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = make();
    if (this.#known.size >= this.most) this.#known.clear();
    this.#known.set(key, made);
    return made;
  }
}
