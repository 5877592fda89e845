/** What was made by key. Where `most` keys are known, all are forgotten for a new one. */
export class Remembered<Value> {
  readonly #known = new Map<string, Value>();

  constructor(private readonly most: number) {}

  /** What `make` gave for the key, which it is called for where it is not known. */
  get(key: string, make: () => Value): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const made = make();
    if (this.#known.size >= this.most) this.#known.clear();
    this.#known.set(key, made);
    return made;
  }
}
