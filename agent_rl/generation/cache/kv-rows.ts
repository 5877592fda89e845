export interface KvShape {
  layers: number;
  kvHeads: number;
  headDim: number;
  /** Most positions per row; a multiple of 16, so that results do not depend on it. */
  capacity: number;
}

/** Keys and values of some tokens, per layer [kvHeads, length, headDim]. */
export interface KvPrefix {
  length: number;
  keys: readonly Float32Array[];
  values: readonly Float32Array[];
}

/** Some positions of a row, and where they stand in what they are copied from. */
interface Part {
  row: number;
  at: number;
  length: number;
  /** Row of the source, and its position there. */
  from: { row: number; at: number };
}

/**
 * Keys and values of many rows, per layer [rows, kvHeads, capacity, headDim], written from JavaScript. Rows are contiguous, so the first
 * n rows are a view, not a copy. The capacity in use may be less than the most there can be.
 */
export class KvRows {
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
  #capacity: number;

  constructor(
    readonly shape: KvShape,
    readonly rows: number,
  ) {
    this.#capacity = shape.capacity;
    const size = rows * shape.kvHeads * shape.capacity * shape.headDim;
    const allocate = () => Array.from({ length: shape.layers }, () => new Float32Array(size));
    this.keys = allocate();
    this.values = allocate();
  }

  /** Positions per row in use. */
  get capacity(): number {
    return this.#capacity;
  }

  get bytes(): number {
    return [...this.keys, ...this.values].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  get #head(): number {
    return this.#capacity * this.shape.headDim;
  }

  get #row(): number {
    return this.shape.kvHeads * this.#head;
  }

  /**
   * Lays rows out for another capacity, keeping the first `length` positions of each.
   *
   * @param length at most the smaller of both capacities
   */
  resize(capacity: number, length: number): void {
    const { kvHeads, headDim } = this.shape;
    const [from, to] = [this.#head, capacity * headDim];
    const places = [...Array.from({ length: this.rows * kvHeads }).keys()];
    // Growing moves data towards the end, so the last comes first; shrinking the other way round.
    const order = to > from ? places.toReversed() : places;
    for (const data of length === 0 ? [] : [...this.keys, ...this.values]) {
      for (const place of order) {
        data.copyWithin(place * to, place * from, place * from + length * headDim);
      }
    }
    this.#capacity = capacity;
  }

  /** Layer `layer` of some rows from `first` on, as views. */
  view(layer: number, rows: number, first = 0): { keys: Float32Array; values: Float32Array } {
    const [from, to] = [first * this.#row, (first + rows) * this.#row];
    return {
      keys: this.keys[layer]!.subarray(from, to),
      values: this.values[layer]!.subarray(from, to),
    };
  }

  /**
   * Copies entries into a row.
   *
   * @param source per layer [rows, kvHeads, n, headDim]
   * @param sourceRows how many rows these have
   */
  put(source: Pick<KvPrefix, 'keys' | 'values'>, sourceRows: number, part: Part): void {
    for (const [layer, keys] of source.keys.entries())
      this.#putLayer(this.keys[layer]!, { from: keys, sourceRows }, part);
    for (const [layer, values] of source.values.entries())
      this.#putLayer(this.values[layer]!, { from: values, sourceRows }, part);
  }

  #putLayer(
    to: Float32Array,
    { from, sourceRows }: { from: Float32Array; sourceRows: number },
    { row, at, length, from: { row: fromRow, at: fromAt } }: Part,
  ): void {
    const { kvHeads, headDim } = this.shape;
    const stride = from.length / (sourceRows * kvHeads);
    for (let head = 0; head < kvHeads; head++) {
      const start = (fromRow * kvHeads + head) * stride + fromAt * headDim;
      const place = row * this.#row + head * this.#head + at * headDim;
      to.set(from.subarray(start, start + length * headDim), place);
    }
  }

  /** Copies the first `length` positions of one row over another row. */
  move(from: number, to: number, length: number): void {
    for (const { data, offset } of this.#heads()) {
      const start = from * this.#row + offset;
      data.copyWithin(to * this.#row + offset, start, start + length * this.shape.headDim);
    }
  }

  /** Exchanges the first `length` positions of two rows. */
  swap(a: number, b: number, length: number): void {
    const size = length * this.shape.headDim;
    for (const { data, offset } of this.#heads()) {
      const [atA, atB] = [a * this.#row + offset, b * this.#row + offset];
      const kept = data.slice(atA, atA + size);
      data.copyWithin(atA, atB, atB + size);
      data.set(kept, atB);
    }
  }

  /** @yields every head of every layer, and where it begins in each row. */
  *#heads(): Generator<{ data: Float32Array; offset: number }> {
    for (const data of [...this.keys, ...this.values]) {
      for (let head = 0; head < this.shape.kvHeads; head++)
        yield { data, offset: head * this.#head };
    }
  }
}
