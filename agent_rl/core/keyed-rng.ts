/**
 * Randomness by key, not by order of calls: the same key always gives the same numbers, so results cannot depend on
 * which worker ran them or when.
 *
 * The generator is Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3",
 * https://doi.org/10.1145/2063384.2063405). Departure: keys are made from words and numbers by FNV-1a and a finaliser
 * instead of being given as bits.
 */

// Taken once: looking a global up costs more than the sum itself where code runs in a realm of its own.
const { floor, imul } = Math;

/** Four 32-bit words. */
export type PhiloxWords = [number, number, number, number];

const multiplyHigh = (a: number, b: number): number => {
  const [a1, a0] = [a >>> 16, a & 0xffff];
  const [b1, b0] = [b >>> 16, b & 0xffff];
  const low = a0 * b0;
  const middle = a1 * b0 + (low >>> 16);
  const carry = a0 * b1 + (middle % 0x10000);
  return (a1 * b1 + floor(middle / 0x10000) + floor(carry / 0x10000)) >>> 0;
};

/** Four 32-bit words for a counter and a key of two words. */
export function philox4x32(
  counter: Readonly<PhiloxWords>,
  key: readonly [number, number],
): PhiloxWords {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(0xd2511f53, c0);
    const low0 = imul(0xd2511f53, c0);
    const high1 = multiplyHigh(0xcd9e8d57, c2);
    const low1 = imul(0xcd9e8d57, c2);
    [c0, c1, c2, c3] = [high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0];
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  return [c0 >>> 0, c1 >>> 0, c2 >>> 0, c3 >>> 0];
}

const mix = (hash: number): number => {
  let h = hash;
  h = imul(h ^ (h >>> 16), 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};

const hashPart = (basis: number, part: string | number): number => {
  const text = `${typeof part}:${part};`;
  let h = basis;
  for (let i = 0; i < text.length; i++) h = imul(h ^ text.charCodeAt(i), 0x01000193);
  return mix(h);
};

/** A stream of numbers named by a path, such as (seed, 'rollout', task, sample, turn). */
export class KeyedRng {
  readonly #path: readonly (string | number)[];
  readonly #key: readonly [number, number];
  #next = 0;

  constructor(...path: readonly (string | number)[]) {
    this.#path = path;
    const hashFrom = (basis: number): number => path.reduce<number>(hashPart, basis);
    this.#key = [hashFrom(0x811c9dc5), hashFrom(0x2b992ddf)];
  }

  /** What makes the same stream elsewhere: `new KeyedRng(...path)`. */
  get path(): readonly (string | number)[] {
    return this.#path;
  }

  /** The stream whose path extends this one's. */
  child(...path: readonly (string | number)[]): KeyedRng {
    return new KeyedRng(...this.#path, ...path);
  }

  /** Uniform in [0, 1) with 24 bits, at a place in the stream; the stream itself does not move. Exact in float32. */
  at(index: number): number {
    return (this.#words(index)[0] >>> 8) / 0x1000000;
  }

  /** The next number of the stream, uniform in [0, 1) with 53 bits. */
  uniform(): number {
    const [a, b] = this.#words(this.#next++);
    return ((a >>> 5) * 0x4000000 + (b >>> 6)) / 0x20000000000000;
  }

  /** Uniform integer in [0, bound). */
  integer(bound: number): number {
    return floor(this.uniform() * bound);
  }

  /** The next `count` uniform integers in [0, bound), bound at most 2^31: four from a block, of which `integer` takes one. */
  integers(count: number, bound: number): Int32Array {
    const drawn = new Int32Array(count);
    for (let first = 0; first < count; first += 4) {
      const words = this.#words(this.#next++);
      for (let i = first; i < first + 4 && i < count; i++)
        drawn[i] = floor(((words[i - first] ?? 0) / 0x100000000) * bound);
    }
    return drawn;
  }

  /** Standard normal, by Box and Muller. */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    return radius * Math.cos(2 * Math.PI * this.uniform());
  }

  /** One of the items. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.integer(items.length)];
    if (item === undefined) throw new RangeError('Cannot pick from an empty list.');
    return item;
  }

  /** The items in another order; the list itself is left alone. */
  shuffle<Item>(items: readonly Item[]): Item[] {
    const order = [...items];
    for (let last = order.length - 1; last > 0; last--) {
      const other = this.integer(last + 1);
      [order[last], order[other]] = [order[other] as Item, order[last] as Item];
    }
    return order;
  }

  #words(index: number): PhiloxWords {
    return philox4x32([index >>> 0, floor(index / 0x100000000), 0, 0], this.#key);
  }
}
