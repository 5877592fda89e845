import { largest } from '../core/long-lists.ts';
import { bucketSize } from '../engine/program-cache.ts';
import type { CopyPart } from './array-pool.ts';
import type { DecoderPrograms, StepInputs, StepResult } from './decoder-programs.ts';
import { KvCache, type KvPrefix, rowOf } from './kv-cache.ts';
import type { Slot } from './slot.ts';

const hidden = -1e9;

/** What a step computed of some slots. */
export interface LanesStep extends Pick<StepResult, 'whole' | 'runS'> {
  /** Of the slot in a row. */
  drawnIn: (row: number) => { token: number; logProb: number };
  /** Keys and values of the token that was fed to a row. */
  fedIn: (row: number, copy: CopyPart) => KvPrefix;
}

/**
 * Rows of a cache that a step computes together. A step reads what the cache has room for, in all rows up to the last that it
 * computes: rows in use are kept at the front, and there is no more room than the longest needs.
 */
export class Lanes {
  readonly #cache: KvCache;
  /** [rows, capacity + 1] in use: 0 where a row may look, a large negative elsewhere. */
  readonly #mask: Float32Array;
  readonly #byRow: (Slot | undefined)[];

  constructor(
    private readonly programs: DecoderPrograms,
    rows: number,
    /** Most positions of a row; a multiple of 16. */
    private readonly mostTokens: number,
  ) {
    this.#cache = new KvCache({ ...programs.kvShape, capacity: mostTokens }, rows);
    this.#mask = new Float32Array(rows * (mostTokens + 1));
    this.#byRow = Array.from({ length: rows }, () => undefined);
    this.#cache.resize(this.#capacityFor(1), 0);
  }

  get bytes(): number {
    return this.#cache.bytes;
  }

  /** Those with a row, by their rows. */
  get slots(): Slot[] {
    return this.#byRow.filter((slot) => slot !== undefined);
  }

  get hasFreeRow(): boolean {
    return this.#byRow.includes(undefined);
  }

  /** Gives a slot a free row. */
  add(slot: Slot): void {
    slot.row = this.#byRow.indexOf(undefined);
    this.#byRow[slot.row] = slot;
    this.#writeMask(slot);
  }

  remove({ row }: Slot): void {
    this.#byRow[row] = undefined;
    if (this.slots.length === 0) this.#cache.resize(this.#capacityFor(1), 0);
  }

  /** Puts keys and values that follow what a slot holds into its row. */
  load({ row, cached }: Slot, prefix: KvPrefix): void {
    const { length } = cached;
    this.#makeRoom(length + prefix.length);
    this.#cache.load(row, prefix, length);
    const start = row * (this.#cache.capacity + 1) + length;
    this.#mask.fill(0, start, start + prefix.length);
  }

  /** Keys and values of tokens that follow what a slot holds: as many as `chunkOf` says. */
  chunk({ row, cached: { length } }: Slot, tokens: readonly number[]): Promise<KvPrefix> {
    this.#makeRoom(length + tokens.length);
    return this.programs.chunk(tokens, { cache: this.#cache, row, length });
  }

  /** Feeds its next token to each of some slots. */
  async step(slots: readonly Slot[], wholeRows: boolean): Promise<LanesStep> {
    this.#compact(slots);
    this.#makeRoom(1 + largest(slots.map(({ cached }) => cached.length)));
    const rows = this.programs.rowBucket(1 + largest(slots.map(({ row }) => row)));
    const inputs = this.#inputs(slots, rows);
    const options = { cache: this.#cache, rows, wholeRows };
    const step = await this.programs.step(inputs, options);
    for (const [layer, entries] of step.fresh.entries())
      this.#cache.write(layer, entries, inputs.positions);
    const width = this.#cache.capacity + 1;
    for (const { row } of slots) this.#mask[row * width + inputs.positions[row]!] = 0;
    return {
      runS: step.runS,
      ...(step.whole && { whole: step.whole }),
      drawnIn: (row) => ({ token: step.next[row] ?? 0, logProb: step.logProbs[row] ?? 0 }),
      fedIn: (row, copy) => rowOf(step.fresh, { row, copy }, this.#cache.shape),
    };
  }

  /** Makes room for `length` positions in every row. */
  #makeRoom(length: number): void {
    if (length <= this.#cache.capacity) return;
    const { slots } = this;
    const longest = largest(
      slots.map(({ cached }) => cached.length),
      0,
    );
    this.#cache.resize(this.#capacityFor(length), longest);
    for (const slot of slots) this.#writeMask(slot);
  }

  /** Positions per row for contexts of at most `length` tokens. */
  #capacityFor(length: number): number {
    const bucket = bucketSize(length, { multipleOf: 64, growth: 1.2 });
    return Math.min(this.mostTokens, bucket);
  }

  #inputs(slots: readonly Slot[], rows: number): StepInputs {
    const tokens = new Int32Array(rows);
    const positions = new Int32Array(rows).fill(-1);
    const uniforms = new Float32Array(rows);
    const temperatures = new Float32Array(rows).fill(1);
    for (const { row, pending, cached, active: request } of slots) {
      tokens[row] = pending[0] ?? 0;
      positions[row] = cached.length;
      uniforms[row] = request?.uniform ?? 0;
      temperatures[row] = request?.request.sampling.temperature ?? 1;
    }
    const mask = this.#mask.subarray(0, rows * (this.#cache.capacity + 1));
    return { tokens, positions, uniforms, temperatures, mask };
  }

  #writeMask({ row, cached }: Slot): void {
    const width = this.#cache.capacity + 1;
    const mask = this.#mask.subarray(row * width, (row + 1) * width);
    mask.fill(hidden);
    mask.fill(0, 0, cached.length);
    mask[width - 1] = 0; // the token being fed always sees itself
  }

  /** Swaps rows that are computed to the front when a smaller row bucket would hold them all. */
  #compact(slots: readonly Slot[]): void {
    const wanted = this.programs.rowBucket(slots.length);
    const computed = new Set<Slot | undefined>(slots);
    let front = 0;
    for (const slot of slots.filter(({ row }) => row >= wanted)) {
      while (computed.has(this.#byRow[front])) front += 1;
      this.#swap(slot, front);
    }
  }

  #swap(slot: Slot, row: number): void {
    const from = slot.row;
    const other = this.#byRow[row];
    if (other === undefined) this.#cache.move(from, row, slot.cached.length);
    else this.#cache.swap(from, row, Math.max(slot.cached.length, other.cached.length));
    this.#byRow[from] = other;
    this.#byRow[row] = slot;
    slot.row = row;
    this.#writeMask(slot);
    if (other !== undefined) {
      other.row = from;
      this.#writeMask(other);
    }
  }
}
