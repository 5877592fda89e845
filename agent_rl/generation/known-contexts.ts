import { type Sampling, truncates } from '../core/services/generator.ts';
import { append } from '../core/long-lists.ts';
import { ArrayPool, type CopyPart } from './array-pool.ts';
import { type Drawn, drawTruncated } from './draw-truncated.ts';
import type { KvPrefix } from './cache/kv-rows.ts';

const mostKnownBytes = 128 * 2 ** 20;

/** Bytes that a generator keeps of contexts that several episodes may share, by the bytes of its rows. */
export const knownContextBytes = (rowBytes: number): number =>
  Math.min(rowBytes / 2, mostKnownBytes);

/** The most that it holds for them, including arrays kept for reuse and the overhead of small arrays. */
export const plannedContextBytes = (rowBytes: number): number => 2 * knownContextBytes(rowBytes);

/** The distribution that a token is drawn from. */
export interface NextTokens {
  /** At which it was computed. */
  temperature: number;
  /** Log-probabilities of all tokens, and the sums of their probabilities up to each, as the decode step has them. [V] */
  logProbs: Float32Array;
  cumulative: Float32Array;
  /** At temperature 0: the one token. */
  likeliest?: Drawn | undefined;
}

/** A context of which something is known: its last token was fed. */
export interface KnownContext {
  /** Without its last token; absent for the prompt. */
  readonly before?: KnownContext;
  /** Tokens after the prompt. */
  readonly length: number;
  /** Keys and values of its last token; absent for the prompt. */
  readonly kv?: KvPrefix;
  /** Absent where nothing was to be drawn, or no other episode was at hand. */
  next?: NextTokens | undefined;
  readonly after: Map<number, KnownContext>;
  readonly prompt: KnownPrompt;
}

/** The results for a context, to be copied. */
export interface ComputedContext {
  kv: (copy: CopyPart) => KvPrefix;
  next?: ((copy: CopyPart) => NextTokens) | undefined;
}

/** Where an episode stands among known contexts, and the token that it is fed next, where that is known. */
export interface Standing {
  readonly context: KnownContext | undefined;
  readonly next: number | undefined;
}

/** A prompt, and the contexts that episodes went on to from it. */
interface KnownPrompt {
  readonly key: string;
  readonly start: KnownContext;
  /** Episodes that hold a place in it, and all that ever did. */
  holders: number;
  episodes: number;
  /** Those that may still take what is known of it. */
  readonly standing: Set<Standing>;
  bytes: number;
  /** There was no room for more of it. */
  isFull: boolean;
}

/**
 * What was computed of contexts that several episodes may come to, by their tokens: the episodes of a group begin with one prompt,
 * and go on alike until their draws differ. What the decode step computes of a row depends on its tokens alone, so that what
 * one episode computed has the bits that another would compute.
 */
export class KnownContexts {
  readonly #prompts = new Map<string, KnownPrompt>();
  readonly #pool: ArrayPool;
  #bytes = 0;

  constructor(private readonly mostBytes: number) {
    this.#pool = new ArrayPool(mostBytes / 2);
  }

  /** Where an episode begins. It is to be left again. */
  enter(prompt: readonly number[]): KnownContext {
    const key = prompt.join(',');
    const known = this.#prompts.get(key) ?? newPrompt(key, { isFull: this.mostBytes === 0 });
    // The one used last is dropped last.
    this.#prompts.delete(key);
    this.#prompts.set(key, known);
    known.holders += 1;
    known.episodes += 1;
    return known.start;
  }

  leave({ prompt }: KnownContext): void {
    prompt.holders -= 1;
    if (prompt.holders === 0 && (prompt.episodes === 1 || prompt.bytes === 0)) this.#forget(prompt);
  }

  /** Adds what was computed after a token; `undefined` where all room is taken. */
  add(
    context: KnownContext,
    token: number,
    { kv, next }: ComputedContext,
  ): KnownContext | undefined {
    const before = context.after.get(token);
    if (before !== undefined) {
      if (next !== undefined && before.next === undefined) this.#addNext(before, next);
      return before;
    }
    const { prompt } = context;
    if (this.mostBytes === 0 || this.#prompts.get(prompt.key) !== prompt) return undefined;
    const made: KnownContext = {
      before: context,
      length: context.length + 1,
      kv: kv(this.#pool.copy),
      after: new Map(),
      prompt,
      next: next?.(this.#pool.copy),
    };
    if (!this.#reserve(prompt, arraysOf(made))) {
      this.#pool.take(arraysOf(made));
      return undefined;
    }
    context.after.set(token, made);
    return made;
  }

  #addNext(context: KnownContext, next: NonNullable<ComputedContext['next']>): void {
    const made = next(this.#pool.copy);
    const arrays = [made.logProbs, made.cumulative];
    if (this.#reserve(context.prompt, arrays)) context.next = made;
    else this.#pool.take(arrays);
  }

  /** Forgets all; places that are held know nothing more. */
  clear(): void {
    for (const prompt of this.#prompts.values()) this.#forget(prompt);
  }

  /** Whether there is room for some arrays of a prompt, for which others that no episode holds may have to go. */
  #reserve(prompt: KnownPrompt, arrays: readonly Float32Array[]): boolean {
    const bytes = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
    for (const other of this.#prompts.values()) {
      if (this.#bytes + bytes <= this.mostBytes) break;
      if (other.holders === 0) this.#forget(other);
    }
    if (this.#bytes + bytes > this.mostBytes) {
      prompt.isFull = true;
      return false;
    }
    prompt.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  #forget(prompt: KnownPrompt): void {
    if (this.#prompts.get(prompt.key) !== prompt) return;
    this.#prompts.delete(prompt.key);
    this.#bytes -= prompt.bytes;
    const all = [prompt.start];
    for (const context of all) {
      this.#pool.take(arraysOf(context));
      append(all, context.after.values());
      context.after.clear();
    }
  }
}

/** Whether several episodes came to the prompt of a context, and what is computed after it can be kept for them. */
export const isShared = ({ prompt }: KnownContext): boolean =>
  prompt.episodes > 1 && !prompt.isFull;

/** Whether another episode in progress goes the way of one, and may come to where it stands with the token that it is fed next. */
export const isAwaited = (own: Standing): boolean =>
  [...(own.context?.prompt.standing ?? [])].some((other) => other !== own && follows(other, own));

function follows({ context: at, next }: Standing, own: Standing): boolean {
  const end = own.context;
  if (at === undefined || end === undefined || at.length > end.length) return false;
  if (at === end) return next === undefined || next === own.next;
  const goesTo = next === undefined ? at : at.after.get(next);
  if (goesTo === undefined) return false;
  let passed: KnownContext | undefined = end;
  while (passed !== undefined && passed.length > goesTo.length) passed = passed.before;
  return passed === goesTo;
}

function newPrompt(key: string, { isFull }: Pick<KnownPrompt, 'isFull'>): KnownPrompt {
  const prompt = { key, holders: 0, standing: new Set<Standing>(), episodes: 0, bytes: 0, isFull };
  const start: KnownContext = { length: 0, after: new Map(), prompt: prompt as KnownPrompt };
  return Object.assign(prompt, { start });
}

function arraysOf({ kv, next }: KnownContext): Float32Array[] {
  const arrays = [...(kv?.keys ?? []), ...(kv?.values ?? [])];
  return next === undefined ? arrays : [...arrays, next.logProbs, next.cumulative];
}

/**
 * Draws as the decode step does, bit by bit: the first token whose cumulative mass is more than the uniform number's share of all.
 * `undefined` where what is known is of another temperature.
 */
export function drawKnown(
  { temperature, logProbs, cumulative, likeliest }: NextTokens,
  sampling: Sampling,
  uniform: number,
): Drawn | undefined {
  if (temperature !== sampling.temperature) return undefined;
  if (truncates(sampling)) return drawTruncated(logProbs, sampling, uniform);
  if (temperature <= 0) return likeliest;
  const wanted = Math.fround(Math.fround(uniform) * (cumulative.at(-1) ?? 0));
  let [low, high] = [0, cumulative.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cumulative[middle] ?? 0) <= wanted) low = middle + 1;
    else high = middle;
  }
  return { token: low, logProb: logProbs[low] ?? 0 };
}
