import { largest } from '../core/long-lists.ts';
import { bucketSize } from '../engine/program-cache.ts';
import { windowStart } from '../../model/decoder/windows.ts';
import type { CopyPart } from './array-pool.ts';
import type { DecoderPrograms } from './programs/decoder-programs.ts';
import type { StepInputs, StepResult, WholeRows } from './programs/step-result.ts';
import { entryOf, KvCache, rowOf } from './cache/kv-cache.ts';
import type { KvPrefix } from './cache/kv-rows.ts';
import { inputsOfSteps } from './several-steps.ts';
import type { Feed } from './drafts/feeds.ts';
import type { Slot } from './slot.ts';

/** The results of a step for some slots; `place` counts the tokens that were fed to a row. */
export interface LanesStep extends Pick<StepResult, 'runS'> {
  /** After a token of the slot in a row. */
  drawnIn: (row: number, place: number) => { token: number; logProb: number };
  /** What follows it; absent where it was not fetched. */
  wholeIn: ((row: number, place: number) => Part) | undefined;
  /** Keys and values of it. */
  fedIn: (row: number, place: number, copy: CopyPart) => KvPrefix;
}

/** The results of several steps for some slots. */
export interface LanesSteps {
  count: number;
  /** Seconds inside the runtime. */
  runS: number;
  /** After the token that a step fed to the slot in a row. */
  drawnIn: (row: number, step: number) => { token: number; logProb: number };
  /** Writes the keys and values of the first `length` steps into a row, from position `at` on. */
  keep: (row: number, where: { at: number; length: number }) => void;
}

/** A part of what follows every token, [rows * tokens, V] each. */
export interface Part extends WholeRows {
  from: number;
  to: number;
}

/**
 * Rows of a cache that a step computes together. A step reads what the cache has room for, in all rows up to the last that it
 * computes: rows in use are kept at the front, and there is no more room than the longest needs.
 */
export class Lanes {
  readonly #cache: KvCache;
  readonly #byRow: (Slot | undefined)[];

  constructor(
    private readonly programs: DecoderPrograms,
    rows: number,
    /** Most positions of a row; a multiple of 16. */
    private readonly mostTokens: number,
  ) {
    this.#cache = new KvCache({ ...programs.kvShape, capacity: mostTokens }, rows);
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
    this.#cache.clear(slot.row);
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
  }

  /** Feeds up to `width` tokens to each of some slots. */
  async step(
    feeds: readonly Feed[],
    { width, wholeRows }: { width: number; wholeRows: boolean },
  ): Promise<LanesStep> {
    this.#compact(feeds.map(({ slot }) => slot));
    this.#makeRoom(largest(feeds.map(({ slot }) => slot.cached.length)));
    const rows = feeds.length;
    const { at, inputs } = inputsOf(feeds, width, this.programs);
    const step = await this.programs.step(inputs, { cache: this.#cache, wholeRows });
    const { fresh, whole, runS } = step;
    this.#cache.write(fresh, inputs.positions);
    const vocabSize = this.programs.vocabSize;
    return {
      runS,
      drawnIn: (row, place) => {
        const draw = at(row, place);
        return { token: step.next[draw]!, logProb: step.logProbs[draw]! };
      },
      wholeIn:
        whole &&
        ((row, place) => {
          const from = at(row, place) * vocabSize;
          return { ...whole, from, to: from + vocabSize };
        }),
      fedIn: (row, place, copy) => entryOf(fresh, { rows, row, place, copy }, this.#cache.shape),
    };
  }

  /** Feeds up to `count` tokens to each of some slots, one after another: what is to be fed, and then what is drawn. */
  async steps(slots: readonly Slot[], count: number): Promise<LanesSteps> {
    this.#compact(slots);
    const longest = largest(slots.map(({ cached }) => cached.length)) + count;
    this.#makeRoom(Math.min(longest, this.mostTokens));
    const rows = this.programs.tokensOf(slots.length);
    const inputs = inputsOfSteps(slots, rows, count);
    const { next, logProbs, fresh, runS } = await this.programs.steps(inputs, this.#cache);
    return {
      count,
      runS,
      drawnIn: (row, step) => ({
        token: next[step * rows + row] ?? 0,
        logProb: logProbs[step * rows + row] ?? 0,
      }),
      keep: (row, { at, length }) => this.#cache.load(row, rowOf(fresh, { rows, row, length }), at),
    };
  }

  /** Makes room for the whole windows of `length` positions in every row. */
  #makeRoom(length: number): void {
    if (windowStart(length) <= this.#cache.capacity) return;
    const { slots } = this;
    const longest = largest(
      slots.map(({ cached }) => cached.length),
      0,
    );
    this.#cache.resize(this.#capacityFor(length), longest);
  }

  /** Positions of whole windows per row for contexts of at most `length` tokens. */
  #capacityFor(length: number): number {
    const bucket = bucketSize(windowStart(length), { multipleOf: 32, growth: 1.1 });
    return Math.min(this.mostTokens, bucket);
  }

  /** Swaps rows that are computed to the front. */
  #compact(slots: readonly Slot[]): void {
    const computed = new Set<Slot | undefined>(slots);
    let front = 0;
    for (const slot of slots.filter(({ row }) => row >= slots.length)) {
      while (computed.has(this.#byRow[front])) front += 1;
      this.#swap(slot, front);
    }
  }

  #swap(slot: Slot, row: number): void {
    const from = slot.row;
    const other = this.#byRow[row];
    if (other === undefined) this.#cache.move(from, row);
    else this.#cache.swap(from, row);
    this.#byRow[from] = other;
    this.#byRow[row] = slot;
    slot.row = row;
    if (other !== undefined) other.row = from;
  }
}

/** The inputs of a step, and where among its draws is the one after a token of a row. */
function inputsOf(
  feeds: readonly Feed[],
  width: number,
  programs: Pick<DecoderPrograms, 'tokensOf' | 'drawsOf'>,
): { inputs: StepInputs; at: (row: number, place: number) => number } {
  const fed: { token: number; place: number }[] = [];
  const drawn: { after: number; uniform: number; temperature: number }[] = [];
  const positions = new Int32Array(feeds.length);
  const firstDraws = new Map<number, number>();
  for (const { slot, tokens } of feeds) {
    const { row, pending, cached, active } = slot;
    positions[row] = cached.length;
    const first = pending.length - 1;
    firstDraws.set(row, drawn.length - first);
    const temperature = active?.request.sampling.temperature ?? 1;
    for (const [place, token] of tokens.entries()) {
      if (place >= first) {
        const uniform = active?.uniformAfter(place - first) ?? 0;
        drawn.push({ after: fed.length, uniform, temperature });
      }
      fed.push({ token, place: row * width + place });
    }
  }
  const count = programs.tokensOf(fed.length);
  const draws = programs.drawsOf(drawn.length);
  const inputs = {
    width,
    tokens: new Int32Array(count),
    taken: new Int32Array(count),
    positions,
    drawnAfter: new Int32Array(draws),
    uniforms: new Float32Array(draws),
    temperatures: new Float32Array(draws).fill(1),
  };
  for (const [i, { token, place }] of fed.entries()) {
    inputs.tokens[i] = token;
    inputs.taken[i] = place;
  }
  for (const [draw, { after, uniform, temperature }] of drawn.entries()) {
    inputs.drawnAfter[draw] = after;
    inputs.uniforms[draw] = uniform;
    inputs.temperatures[draw] = temperature;
  }
  return { inputs, at: (row, place) => firstDraws.get(row)! + place };
}
