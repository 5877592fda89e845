/** Tokens that are remembered of what was drawn, and places of tables of what they follow. */
const remembered = 2 ** 16;

/**
 * Guesses what will be drawn after a context: what followed its last tokens where they stood before, in itself or else in what was
 * drawn lately (Saxena 2023, https://github.com/apoorvumang/prompt-lookup-decoding; He et al. 2023,
 * https://arxiv.org/abs/2311.08252). A guess that is not what the draw gives is thrown away (Leviathan et al. 2022,
 * https://arxiv.org/abs/2211.17192; here the draw is what it is without guesses, token by token), so that guesses cost or save time and change nothing.
 */
export class Drafts {
  /** What was drawn, over and over from the front. */
  readonly #log = new Int32Array(remembered);
  #length = 0;
  /** In this order: tokens that must agree within a context, and within what was drawn; what followed these there. */
  readonly #tables = [
    { own: 3, size: 4 },
    { own: 2, size: 2 },
  ].map(({ own, size }) => ({ own, size, places: new Int32Array(remembered).fill(-1) }));
  /** Of all guesses for a next token, the share that was right, lately. */
  #rate = 0.5;

  get rate(): number {
    return this.#rate;
  }

  /** Counts whether a guess for the next token was right. */
  count(right: boolean): void {
    this.#rate += 0.01 * (Number(right) - this.#rate);
  }

  /** At most `most` tokens that may follow a context. */
  after(context: readonly number[], most: number): number[] {
    if (most <= 0) return [];
    for (const table of this.#tables) {
      const inside = repeated(context, table.own);
      if (inside >= 0) return context.slice(inside, inside + most);
      const place = this.#find(context, table);
      const count = Math.min(most, this.#length - place);
      if (place >= 0)
        return Array.from({ length: count }, (_, i) => this.#log[(place + i) % remembered]!);
    }
    return [];
  }

  /** Remembers tokens of a context from one on, and what they follow. */
  learn(context: readonly number[], from: number): void {
    for (let at = Math.max(0, from - 4); at < context.length; at++) {
      this.#log[this.#length % remembered] = context[at]!;
      this.#length += 1;
      for (const { size, places } of this.#tables)
        if (this.#length >= size) places[hashOf(size, (i) => this.#logged(i))] = this.#length;
    }
  }

  #find(
    context: readonly number[],
    { size, places }: { size: number; places: Int32Array },
  ): number {
    if (context.length < size) return -1;
    const place = places[hashOf(size, (i) => context[context.length - i]!)]!;
    if (place < 0 || place >= this.#length || this.#length - place > remembered - size) return -1;
    for (let i = 1; i <= size; i++)
      if (this.#log[(place - i) % remembered] !== context[context.length - i]) return -1;
    return place;
  }

  /** The i-th token from the end of what is remembered. */
  #logged(i: number): number {
    return this.#log[(this.#length - i) % remembered]!;
  }
}

/** Of the i-th last tokens, i from 1 to `size`. */
function hashOf(size: number, fromEnd: (i: number) => number): number {
  let hash = size;
  for (let i = 1; i <= size; i++) hash = (Math.imul(hash, 0x01000193) ^ fromEnd(i)) >>> 0;
  return ((hash ^ (hash >>> 16)) >>> 0) % remembered;
}

/** What follows the last place before the end where the last `size` tokens stood; -1 where they are new. */
function repeated(context: readonly number[], size: number): number {
  const last = context.length - 1;
  for (let end = last; end >= size; end--) {
    end = context.lastIndexOf(context[last]!, end - 1) + 1;
    if (end < size) return -1;
    let i = 2;
    while (i <= size && context[end - i] === context[last + 1 - i]) i += 1;
    if (i > size) return end;
  }
  return -1;
}
