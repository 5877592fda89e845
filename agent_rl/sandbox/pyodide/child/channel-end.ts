/// <reference lib="es2024.sharedmemory" />
import { box, boxCount, shared } from '../protocol.ts';

/** One end of a channel, seen from the child's main thread: boxes of bytes in the memory it shares with an instance. */
export class ChannelEnd {
  readonly #words: Int32Array;
  readonly #boxes: readonly Uint8Array[];
  #listening: symbol | undefined;

  constructor(buffer: SharedArrayBuffer, captureBytes: number) {
    this.#words = new Int32Array(buffer, 0, shared.words);
    const start = shared.headerBytes + 2 * captureBytes;
    this.#boxes = Array.from(
      { length: boxCount },
      (_, i) => new Uint8Array(buffer, start + i * shared.boxBytes, shared.boxBytes),
    );
  }

  /** Empty boxes for a new run. To be called while no program runs. */
  open(): void {
    for (let i = 0; i < boxCount; i++) this.#setCount(i, 0);
    Atomics.store(this.#words, shared.closed, 0);
  }

  /** Calls `onChange` now and whenever the instance filled or emptied a box, until `release`. */
  listen(onChange: () => void): void {
    const listening = Symbol('a run');
    this.#listening = listening;
    void this.#listen(listening, onChange);
  }

  /** No more calls of `onChange`. */
  release(): void {
    this.#listening = undefined;
    Atomics.add(this.#words, shared.mainBell, 1);
    Atomics.notify(this.#words, shared.mainBell);
  }

  /** Whether `give` can be called. */
  canTake(): boolean {
    return this.#count(box.incoming) === 0;
  }

  /** Lets the instance read these bytes, at most as many as `take` gives. */
  give(bytes: Uint8Array): void {
    this.#boxes[box.incoming]?.set(bytes);
    this.#setCount(box.incoming, bytes.length);
    this.ring();
  }

  /** What the instance wrote, or `undefined` when there is nothing. */
  take(place: typeof box.outgoing | typeof box.verdicts): Uint8Array | undefined {
    const count = this.#count(place);
    if (count === 0) return undefined;
    // The count comes from memory that an instance writes; a nonsensical one gets what there is.
    const bytes = this.#boxes[place]?.slice(0, count);
    this.#setCount(place, 0);
    this.ring();
    return bytes;
  }

  /** Once it has read what was given, the instance reads the end; what it writes is refused. */
  close(): void {
    Atomics.store(this.#words, shared.closed, 1);
    this.ring();
  }

  /** Makes an instance that waits for its channel look at it, and at its interrupts. */
  ring(): void {
    Atomics.add(this.#words, shared.realmBell, 1);
    Atomics.notify(this.#words, shared.realmBell);
  }

  #count(place: number): number {
    return Atomics.load(this.#words, shared.boxes + place);
  }

  #setCount(place: number, count: number): void {
    Atomics.store(this.#words, shared.boxes + place, count);
  }

  async #listen(listening: symbol, onChange: () => void): Promise<void> {
    while (this.#listening === listening) {
      const seen = Atomics.load(this.#words, shared.mainBell);
      onChange();
      const rung = Atomics.waitAsync(this.#words, shared.mainBell, seen);
      if (rung.async) await rung.value;
    }
  }
}
