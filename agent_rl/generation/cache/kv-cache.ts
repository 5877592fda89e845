import { leftOfWindow, windowStart, windowTokens } from '../../../model/decoder/windows.ts';
import type { CopyPart } from '../array-pool.ts';
import { type KvPrefix, KvRows, type KvShape } from './kv-rows.ts';

/**
 * Keys and values of many rows: of each row the window that its last positions are in, and apart from it the whole windows before.
 *
 * They are program inputs only, never outputs: the binding copies every output, and a cache is large. A step costs what it looks at, so
 * that no more capacity should be in use than the longest row needs.
 */
export class KvCache {
  readonly past: KvRows;
  readonly recent: KvRows;
  /** Of each row, the positions that stand in `past`. */
  readonly #whole: Int32Array;

  constructor(
    readonly shape: KvShape,
    rows: number,
  ) {
    this.past = new KvRows(shape, rows);
    this.recent = new KvRows({ ...shape, capacity: windowTokens }, rows);
    this.#whole = new Int32Array(rows);
  }

  /** Positions of whole windows per row in use. */
  get capacity(): number {
    return this.past.capacity;
  }

  get bytes(): number {
    return this.past.bytes + this.recent.bytes;
  }

  /** Lays rows out for another capacity, keeping the first `length` positions of each that are of whole windows. */
  resize(capacity: number, length: number): void {
    this.past.resize(capacity, windowStart(length));
  }

  /** Forgets what a row holds. */
  clear(row: number): void {
    this.#whole[row] = 0;
  }

  /** Before what follows a row's first `position` tokens is computed or written: a window that they have filled joins the others. */
  enter(row: number, position: number): void {
    const start = windowStart(position);
    if (start > this.#whole[row]!) {
      const from = { row, at: 0 };
      const part = { row, at: start - windowTokens, length: windowTokens, from };
      this.past.put(this.recent, this.recent.rows, part);
    }
    this.#whole[row] = start;
  }

  /** Puts a prefix into a row, from position `at` on. */
  load(row: number, prefix: KvPrefix, at = 0): void {
    for (let done = 0; done < prefix.length;) done += this.#loadPart(row, { prefix, done, at });
  }

  /** How many positions were put into the row, all of one window or whole windows. */
  #loadPart(
    row: number,
    { prefix, done, at }: { prefix: KvPrefix; done: number; at: number },
  ): number {
    const position = at + done;
    const left = prefix.length - done;
    const from = { row: 0, at: done };
    this.enter(row, position);
    const whole = position === windowStart(position) ? windowStart(left) : 0;
    if (whole > 0) {
      this.past.put(prefix, 1, { row, at: position, length: whole, from });
      this.#whole[row] = position + whole;
      return whole;
    }
    const length = Math.min(left, leftOfWindow(position));
    this.recent.put(prefix, 1, { row, at: position % windowTokens, length, from });
    return length;
  }

  /** Writes new entries of one window, per layer [rows, kvHeads, n, headDim], from each row's position on; -1 skips a row. */
  write(fresh: Pick<KvPrefix, 'keys' | 'values'>, positions: Int32Array): void {
    const { kvHeads, headDim } = this.shape;
    const rows = positions.length;
    const count = fresh.keys[0]!.length / (rows * kvHeads * headDim);
    for (const [row, position] of positions.entries()) {
      if (position < 0) continue;
      this.enter(row, position);
      // What was guessed may reach beyond the end.
      const length = Math.min(count, leftOfWindow(position));
      const part = { row, at: position % windowTokens, length, from: { row, at: 0 } };
      this.recent.put(fresh, rows, part);
    }
  }

  /** Copies one row over another. */
  move(from: number, to: number): void {
    this.past.move(from, to, this.#whole[from]!);
    this.recent.move(from, to, windowTokens);
    this.#whole[to] = this.#whole[from]!;
  }

  /** Exchanges two rows. */
  swap(a: number, b: number): void {
    const [ofA, ofB] = [this.#whole[a]!, this.#whole[b]!];
    this.past.swap(a, b, Math.max(ofA, ofB));
    this.recent.swap(a, b, windowTokens);
    [this.#whole[a], this.#whole[b]] = [ofB, ofA];
  }
}

/** A view of the first `length` tokens of one row among several. @param entries per layer [rows, kvHeads, tokens, headDim] */
export function rowOf(
  entries: Pick<KvPrefix, 'keys' | 'values'>,
  { rows, row, length }: { rows: number; row: number; length: number },
): KvPrefix {
  const own = (all: Float32Array): Float32Array =>
    all.subarray((row * all.length) / rows, ((row + 1) * all.length) / rows);
  return { length, keys: entries.keys.map(own), values: entries.values.map(own) };
}

/**
 * The key and value of one token of a row, out of the keys and values of several tokens of some rows.
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
