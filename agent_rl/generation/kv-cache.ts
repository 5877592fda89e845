import type { CopyPart } from './array-pool.ts';

export interface KvShape {
  layers: number;
  kvHeads: number;
  headDim: number;
  /** Most positions per row; a multiple of 16, so that results do not depend on it. */
  capacity: number;
}

/** Keys and values of one prefix, per layer [kvHeads, length, headDim]. */
export interface KvPrefix {
  length: number;
  keys: readonly Float32Array[];
  values: readonly Float32Array[];
}

/**
 * Keys and values of many rows, per layer [rows, kvHeads, capacity, headDim], written from JavaScript.
 *
 * They are program inputs only, never outputs: the binding copies every output, and a cache is large.
 * Rows are contiguous, so the first n rows are a view, not a copy. The capacity in use may be less than the most
 * there can be: a step costs what it looks at.
 */
export class KvCache {
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

  /** Layer `layer` of the first `rows` rows, as views. */
  view(layer: number, rows: number): { keys: Float32Array; values: Float32Array } {
    const end = rows * this.#row;
    return {
      keys: this.keys[layer]!.subarray(0, end),
      values: this.values[layer]!.subarray(0, end),
    };
  }

  /** Layer `layer` of one row, [kvHeads, capacity, headDim], as views. */
  row(layer: number, row: number): { keys: Float32Array; values: Float32Array } {
    const [from, to] = [row * this.#row, (row + 1) * this.#row];
    return {
      keys: this.keys[layer]!.subarray(from, to),
      values: this.values[layer]!.subarray(from, to),
    };
  }

  /** Puts a prefix into a row, from position `at` on. */
  load(row: number, prefix: KvPrefix, at = 0): void {
    const { kvHeads, headDim } = this.shape;
    const size = prefix.length * headDim;
    const copy = (from: readonly Float32Array[], to: readonly Float32Array[]) => {
      for (const [layer, source] of from.entries()) {
        const stride = source.length / kvHeads;
        for (let head = 0; head < kvHeads; head++) {
          const part = source.subarray(head * stride, head * stride + size);
          to[layer]?.set(part, row * this.#row + head * this.#head + at * headDim);
        }
      }
    };
    copy(prefix.keys, this.keys);
    copy(prefix.values, this.values);
  }

  /** Writes new entries, per layer [rows, kvHeads, n, headDim], from each row's position on; -1 skips a row. */
  write(fresh: Pick<KvPrefix, 'keys' | 'values'>, positions: Int32Array): void {
    const copy = (from: readonly Float32Array[], to: readonly Float32Array[]) => {
      for (const [layer, entries] of from.entries())
        this.#writeLayer(entries, { to: to[layer]!, positions });
    };
    copy(fresh.keys, this.keys);
    copy(fresh.values, this.values);
  }

  #writeLayer(
    entries: Float32Array,
    { to, positions }: { to: Float32Array; positions: Int32Array },
  ): void {
    const { kvHeads, headDim } = this.shape;
    const size = entries.length / (positions.length * kvHeads);
    for (const [row, position] of positions.entries()) {
      if (position < 0) continue;
      // What was guessed may reach beyond the end.
      const kept = Math.min(size, this.#head - position * headDim);
      for (let head = 0; head < kvHeads; head++) {
        const from = (row * kvHeads + head) * size;
        const part = entries.subarray(from, from + kept);
        to.set(part, row * this.#row + head * this.#head + position * headDim);
      }
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

/**
 * The key and value of one token of a row, from those of several tokens of some rows.
 *
 * @param entries per layer [rows, kvHeads, tokens, headDim]
 */
export function entryOf(
  entries: Pick<KvPrefix, 'keys' | 'values'>,
  {
    rows = 1,
    row = 0,
    place,
    copy,
  }: { rows?: number; row?: number; place: number; copy: CopyPart },
  { kvHeads, headDim }: Pick<KvShape, 'kvHeads' | 'headDim'>,
): KvPrefix {
  const own = (all: Float32Array): Float32Array => {
    const stride = all.length / (rows * kvHeads);
    const from = row * kvHeads * stride + place * headDim;
    const part = copy(all, from, from + kvHeads * headDim);
    for (let head = 1; head < kvHeads; head++) {
      const at = from + head * stride;
      part.set(all.subarray(at, at + headDim), head * headDim);
    }
    return part;
  };
  return { length: 1, keys: entries.keys.map(own), values: entries.values.map(own) };
}
