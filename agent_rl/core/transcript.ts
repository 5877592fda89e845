import { AgentRlError } from './errors.ts';
import { append, largest } from './long-lists.ts';

/**
 * Where tokens came from. Which of them a sequence trains follows from this and the sequences before it, see `drawnMasks`.
 *
 * `template`: fixed text of the chat template. `system`, `user`, `tool`: the contents of those roles.
 * `sampled`: drawn by the policy. `demonstration`: an assistant's turn given, not drawn (supervised training).
 */
export type TokenSource = 'template' | 'system' | 'user' | 'tool' | 'sampled' | 'demonstration';

/** Tokens [start, end) of one source. Sampled ones carry the version of the weights that drew them. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly source: TokenSource;
  readonly version?: number;
  /** For sampled tokens of an external agent: the turn that sampled them, from 0. */
  readonly turn?: number | undefined;
}

/** A finished transcript. `logProbs` has one entry per token; 0 where it was not sampled. */
export interface TranscriptRecord {
  readonly tokens: readonly number[];
  readonly spans: readonly Span[];
  readonly logProbs: readonly number[];
}

/** One agent's growing list of tokens in an episode. Sampled tokens enter as they were drawn and are never re-encoded. */
export class Transcript {
  readonly #tokens: number[] = [];
  readonly #spans: Span[] = [];
  readonly #logProbs: number[] = [];

  /** @param root the same object for all transcripts that were begun as one */
  constructor(readonly root: object = {}) {}

  get length(): number {
    return this.#tokens.length;
  }

  get tokens(): readonly number[] {
    return this.#tokens;
  }

  append(source: Exclude<TokenSource, 'sampled'>, tokens: readonly number[]): void {
    this.#extend({ source }, tokens);
    for (const _ of tokens) this.#logProbs.push(0);
  }

  /**
   * A transcript that begins with the first `length` tokens of this one. @param turn that sampled the tokens of its
   * last turn
   */
  beginning(length: number, turn?: number): Transcript {
    const beginning = new Transcript(this.root);
    append(beginning.#tokens, this.#tokens.slice(0, length));
    append(beginning.#logProbs, this.#logProbs.slice(0, length));
    append(
      beginning.#spans,
      this.#spans.filter(({ start }) => start < length),
    );
    const last = beginning.#spans.pop();
    if (last === undefined) return beginning;
    const drew = last.source === 'sampled' ? (turn ?? last.turn) : undefined;
    beginning.#spans.push({ ...last, end: Math.min(last.end, length), turn: drew });
    return beginning;
  }

  /** The same tokens with the first `length` taken from another transcript; `undefined` if they differ. */
  continuing(other: Transcript, length: number): Transcript | undefined {
    const isSame = other.#tokens.slice(0, length).every((token, at) => token === this.#tokens[at]);
    if (!isSame || this.#tokens.length < length) return undefined;
    const joined = other.beginning(length);
    append(joined.#tokens, this.#tokens.slice(length));
    append(joined.#logProbs, this.#logProbs.slice(length));
    for (const span of this.#spans)
      if (span.end > length) joined.#spans.push({ ...span, start: Math.max(span.start, length) });
    return joined;
  }

  /** @throws AgentRlError `SHAPE_MISMATCH` when there is not one log-probability per token. */
  appendSampled(tokens: readonly number[], logProbs: readonly number[], version: number): void {
    if (tokens.length !== logProbs.length) {
      throw new AgentRlError(
        'SHAPE_MISMATCH',
        `${tokens.length} sampled tokens came with ${logProbs.length} log-probabilities; expected one each.`,
      );
    }
    this.#extend({ source: 'sampled', version }, tokens);
    append(this.#logProbs, logProbs);
  }

  /**
   * Drops the tokens after the first `length`, except sampled tokens and what precedes them. @returns how many those
   * were
   */
  cutAt(length: number): number {
    const sampled = this.#spans.findLast(({ source }) => source === 'sampled')?.end ?? 0;
    const kept = Math.max(length, sampled);
    const cut = Math.max(0, this.#tokens.length - kept);
    if (cut === 0) return 0;
    this.#tokens.length = kept;
    this.#logProbs.length = kept;
    while ((this.#spans.at(-1)?.start ?? 0) >= kept) this.#spans.pop();
    const last = this.#spans.at(-1);
    if (last !== undefined)
      this.#spans[this.#spans.length - 1] = { ...last, end: Math.min(last.end, kept) };
    return cut;
  }

  record(): TranscriptRecord {
    return {
      tokens: [...this.#tokens],
      spans: [...this.#spans],
      logProbs: [...this.#logProbs],
    };
  }

  #extend(origin: Pick<Span, 'source' | 'version'>, tokens: readonly number[]): void {
    if (tokens.length === 0) return;
    const start = this.#tokens.length;
    append(this.#tokens, tokens);
    const end = this.#tokens.length;
    const last = this.#spans.at(-1);
    const joins =
      last?.source === origin.source && last.version === origin.version && last.turn === undefined;
    if (last !== undefined && joins) this.#spans[this.#spans.length - 1] = { ...last, end };
    else this.#spans.push({ start, end, ...origin });
  }
}

/** Tokens, and where they came from. */
export type SourcedTokens = Pick<TranscriptRecord, 'tokens' | 'spans'>;

/**
 * The sampled spans of each sequence, so that every token is in one of them: a sequence that begins as an earlier one does, with
 * the same tokens from the same sources, has none in that beginning.
 */
export const drawnSpans = (sequences: readonly SourcedTokens[]): Span[][] =>
  sequences.map((own, index) => {
    const begun = sequences.slice(0, index).map((one) => commonBeginning(one, own));
    const known = largest(begun, 0);
    return own.spans.flatMap((span) =>
      span.source === 'sampled' && span.end > known
        ? [{ ...span, start: Math.max(span.start, known) }]
        : [],
    );
  });

/** For each sequence, 1 for each token of its `drawnSpans`, 0 elsewhere. */
export const drawnMasks = (sequences: readonly SourcedTokens[]): Uint8Array[] =>
  drawnSpans(sequences).map((spans, index) => {
    const mask = new Uint8Array(sequences[index]?.tokens.length ?? 0);
    for (const { start, end } of spans) mask.fill(1, start, end);
    return mask;
  });

/** How many tokens two sequences begin with that are the same and have the same source. */
function commonBeginning(one: SourcedTokens, other: SourcedTokens): number {
  const parting = one.tokens.findIndex((token, place) => token !== other.tokens[place]);
  const tokens = parting === -1 ? one.tokens.length : parting;
  for (const [index, { source, version, turn, start, end }] of one.spans.entries()) {
    const span = other.spans[index];
    const isSame = span?.source === source && span.version === version && span.turn === turn;
    if (!isSame) return Math.min(tokens, start);
    if (span.end !== end) return Math.min(tokens, end, span.end);
  }
  return tokens;
}

/** 1 for each token of the given source, 0 elsewhere. */
export function maskOf({ tokens, spans }: SourcedTokens, source: TokenSource): Uint8Array {
  const mask = new Uint8Array(tokens.length);
  for (const span of spans) if (span.source === source) mask.fill(1, span.start, span.end);
  return mask;
}
