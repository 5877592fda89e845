import { type Generation, type GenerationRequest, truncates } from '../core/services/generator.ts';
import { KeyedRng } from '../core/keyed-rng.ts';
import { isAwaited, type KnownContext, type Standing } from './known-contexts.ts';

/** A request being answered: what is still to be fed, and what was drawn. */
export class ActiveRequest {
  readonly tokens: number[] = [];
  readonly logProbs: number[] = [];
  /** Its episode was released before it had a row. */
  abandoned = false;
  readonly #random: KeyedRng;

  constructor(
    readonly request: GenerationRequest,
    readonly signal: AbortSignal | undefined,
    readonly settle: {
      resolve: (generation: Generation) => void;
      reject: (problem: unknown) => void;
    },
  ) {
    const { seed, taskId, sample, turn, agent } = request.key;
    const path = agent === undefined ? [] : [agent];
    this.#random = new KeyedRng(seed, 'sample', taskId, sample, turn, ...path);
  }

  /** The number that decides the next draw. */
  get uniform(): number {
    return this.uniformAfter(0);
  }

  /** The number that decides the draw after `draws` others. */
  uniformAfter(draws: number): number {
    return this.#random.at((this.request.key.drawn ?? 0) + this.tokens.length + draws);
  }

  finish(stop: Generation['stop'], version: number): void {
    this.settle.resolve({ tokens: this.tokens, logProbs: this.logProbs, stop, version });
  }
}

/** One row of the cache: the episode it belongs to and the tokens whose keys and values it holds. */
export class Slot implements Standing {
  readonly cached: number[] = [];
  /** Tokens to feed before the next draw; empty when no request is active. */
  pending: number[] = [];
  active: ActiveRequest | undefined;
  #context: KnownContext | undefined;
  /** The context of its last turn. */
  #asked: readonly number[] = [];
  /** What its next turn begins with. */
  #left: number | undefined;

  /** Among the rows of its lanes. */
  row = 0;

  constructor(
    readonly episode: string,
    /** Where it began. */
    readonly start: KnownContext,
  ) {
    this.context = start;
  }

  /** Where its tokens are among those that several episodes may come to; absent where it has left these. */
  get context(): KnownContext | undefined {
    return this.#context;
  }

  set context(context: KnownContext | undefined) {
    const before = this.#context?.prompt;
    if (before !== context?.prompt) {
      before?.standing.delete(this);
      context?.prompt.standing.add(this);
    }
    this.#context = context;
  }

  /** Where it has no request: the last token of its turn, which was not fed. */
  get next(): number | undefined {
    return this.pending[0] ?? this.#left;
  }

  /** Whether its last turn is asked for again, as by a client that the answer did not reach. */
  isAskedAgain(tokens: readonly number[]): boolean {
    const asked = this.#asked;
    const isSame = asked.length === tokens.length && asked.every((token, i) => token === tokens[i]);
    return this.active === undefined && isSame;
  }

  beginTurn(active: ActiveRequest): void {
    this.#asked = active.request.tokens;
    this.pending = this.#asked.slice(this.cached.length);
    this.active = active;
  }

  /** Ends the turn, of which the last token drawn was not fed. */
  endTurn(last: number | undefined): void {
    this.#left = last ?? this.pending[0];
    this.active = undefined;
    this.pending = [];
  }

  /** Leaves what several episodes may come to where no other can follow it, and nothing is known of what it is fed next. */
  leaveUnlessAwaited(): void {
    const context = this.#context;
    const [token] = this.pending;
    if (context === undefined || token === undefined || context.after.has(token)) return;
    if (context.prompt.episodes > 1 && !isAwaited(this)) this.context = undefined;
  }

  /** Whether it draws from less than a whole distribution, which several steps of one run do not. */
  get isTruncated(): boolean {
    return this.active !== undefined && truncates(this.active.request.sampling);
  }

  /** Whether `tokens` begin with what this row holds and continue from there. */
  isPrefixOf(tokens: readonly number[]): boolean {
    return (
      this.cached.length < tokens.length && this.cached.every((token, i) => token === tokens[i])
    );
  }
}
