/** A copy of some numbers of an array. */
export type CopyPart = (all: Float32Array, from: number, to: number) => Float32Array;

/**
 * Copies in arrays that are used again: many small ones that come and go would be left to a garbage collector that does not
 * see how large they are together.
 */
export class ArrayPool {
  readonly #free = new Map<number, Float32Array[]>();
  #bytes = 0;

  /** @param mostBytes of arrays that wait to be used again; others are left to the garbage collector after all */
  constructor(private readonly mostBytes: number) {}

  readonly copy: CopyPart = (all, from, to) => {
    const waiting = this.#free.get(to - from)?.pop();
    this.#bytes -= waiting?.byteLength ?? 0;
    const own = waiting ?? new Float32Array(to - from);
    own.set(all.subarray(from, to));
    return own;
  };

  /** Takes arrays back that nothing refers to any more. */
  take(arrays: Iterable<Float32Array>): void {
    for (const array of arrays) {
      if (this.#bytes + array.byteLength > this.mostBytes) return;
      this.#bytes += array.byteLength;
      const free = this.#free.get(array.length);
      if (free === undefined) this.#free.set(array.length, [array]);
      else free.push(array);
    }
  }
}
