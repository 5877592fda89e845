import { AgentRlError } from '../core/errors.ts';

export interface KvShape {
  readonly layers: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Positions per row; a multiple of 16, so that results do not depend on it. */
  readonly capacity: number;
}

/** Keys and values of one prefix, per layer [kvHeads, length, headDim]. */
export interface KvPrefix {
  readonly length: number;
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
}

/**
 * Keys and values of many rows, per layer [rows, kvHeads, capacity, headDim], written from JavaScript.
 *
 * They are program inputs only, never outputs: the binding copies every output, and a cache is large.
 * Rows are contiguous, so the first n rows are a view, not a copy.
 */
export class KvCache {
  readonly keys: readonly Float32Array[];
  readonly values: readonly Float32Array[];
  readonly #head: number;
  readonly #row: number;

  constructor(
    readonly shape: KvShape,
    readonly rows: number,
  ) {
    this.#head = shape.capacity * shape.headDim;
    this.#row = shape.kvHeads * this.#head;
    const allocate = () =>
      Array.from({ length: shape.layers }, () => new Float32Array(rows * this.#row));
    this.keys = allocate();
    this.values = allocate();
  }

  get bytes(): number {
    return 2 * 4 * this.shape.layers * this.rows * this.#row;
  }

  /** Layer `layer` of the first `rows` rows, as views. */
  view(
    layer: number,
    rows: number,
  ): { readonly keys: Float32Array; readonly values: Float32Array } {
    const [keys, values] = [this.keys[layer], this.values[layer]];
    if (keys === undefined || values === undefined) {
      throw new AgentRlError('SHAPE_MISMATCH', `The cache has no layer ${layer}.`);
    }
    const end = rows * this.#row;
    return { keys: keys.subarray(0, end), values: values.subarray(0, end) };
  }

  /** Puts a prefix at the start of a row. */
  load(row: number, prefix: KvPrefix): void {
    const { kvHeads, headDim } = this.shape;
    const size = prefix.length * headDim;
    const copy = (from: readonly Float32Array[], to: readonly Float32Array[]) => {
      for (const [layer, source] of from.entries()) {
        const stride = source.length / kvHeads;
        for (let head = 0; head < kvHeads; head++) {
          const part = source.subarray(head * stride, head * stride + size);
          to[layer]?.set(part, row * this.#row + head * this.#head);
        }
      }
    };
    copy(prefix.keys, this.keys);
    copy(prefix.values, this.values);
  }

  /** Writes the new entries of one layer, each [rows, kvHeads, 1, headDim], at each row's position; -1 skips a row. */
  write(
    layer: number,
    fresh: { readonly keys: Float32Array; readonly values: Float32Array },
    positions: Int32Array,
  ): void {
    const { kvHeads, headDim } = this.shape;
    const { keys, values } = this.view(layer, this.rows);
    for (let row = 0; row < positions.length; row++) {
      const position = positions[row] ?? -1;
      if (position < 0) continue;
      for (let head = 0; head < kvHeads; head++) {
        const from = (row * kvHeads + head) * headDim;
        const to = row * this.#row + head * this.#head + position * headDim;
        keys.set(fresh.keys.subarray(from, from + headDim), to);
        values.set(fresh.values.subarray(from, from + headDim), to);
      }
    }
  }

  /** Copies the first `length` positions of one row over another row. */
  move(from: number, to: number, length: number): void {
    const { kvHeads, headDim } = this.shape;
    for (const layers of [this.keys, this.values]) {
      for (const data of layers) {
        for (let head = 0; head < kvHeads; head++) {
          const start = from * this.#row + head * this.#head;
          data.copyWithin(to * this.#row + head * this.#head, start, start + length * headDim);
        }
      }
    }
  }

  /** Exchanges the first `length` positions of two rows. */
  swap(a: number, b: number, length: number): void {
    const { kvHeads, headDim } = this.shape;
    const size = length * headDim;
    for (const layers of [this.keys, this.values]) {
      for (const data of layers) {
        for (let head = 0; head < kvHeads; head++) {
          const [atA, atB] = [a, b].map((row) => row * this.#row + head * this.#head) as [
            number,
            number,
          ];
          const kept = data.slice(atA, atA + size);
          data.copyWithin(atA, atB, atB + size);
          data.set(kept, atB);
        }
      }
    }
  }
}
