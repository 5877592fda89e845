import { createHash } from 'node:crypto';

import { canonicalJson } from '../../core/services/canonical-json.ts';
import type {
  Generation,
  GenerationRequest,
  GenerationTotals,
  Generator,
  GeneratorInfo,
} from '../../core/services/generator.ts';
import type { GenerationJournal } from '../../core/services/journal.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import type { WeightRef } from '../../core/services/weights.ts';

/**
 * A generator whose answers are recorded before they are given. A request that an earlier session recorded is answered from
 * there: a run that is resumed asks for no token twice. Log-probabilities are given as they are recorded, in float32.
 */
export class RecordingGenerator implements Generator {
  /** Absent where the other does not count. */
  readonly totals?: () => Promise<GenerationTotals>;
  #journal: GenerationJournal | undefined;
  /** Tokens of the first context of each episode. */
  readonly #openings = new Map<string, number>();
  #version: number | undefined;

  constructor(private readonly inner: Generator) {
    if (inner.totals !== undefined) this.totals = () => inner.totals!();
  }

  /** From now on. */
  recordIn(journal: GenerationJournal): void {
    this.#journal = journal;
  }

  describe(): Promise<GeneratorInfo> {
    return this.inner.describe();
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const journal = this.#journal;
    if (journal === undefined) return this.inner.generate(request, signal);
    const { episode, tokens } = request;
    const opening = this.#openings.get(episode) ?? tokens.length;
    this.#openings.set(episode, opening);
    const newest = this.#version;
    const version = newest === undefined ? undefined : (request.version ?? newest);
    const asked = askedFor(request, version);
    const known = journal.drawn(request.key, asked);
    if (known !== undefined) return known;
    const answer = await this.inner.generate({ ...request, opening }, signal);
    const drawn = { ...answer, logProbs: answer.logProbs.map(Math.fround) };
    // What was drawn of a turn that was given up is drawn again.
    if (drawn.stop !== 'aborted') await journal.draw(request.key, asked, drawn);
    return drawn;
  }

  release(episode: string): void {
    this.#openings.delete(episode);
    this.inner.release(episode);
  }

  async use(weights: WeightRef, signal?: AbortSignal, scorer?: Scorer): Promise<void> {
    await this.inner.use?.(weights, signal, scorer);
    this.#version = weights.version;
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}

const askedDigits = 16;

/** Names a request and the weights that are to answer it. Not by its episode, whose name may differ in another session. */
function askedFor(
  { tokens, maxTokens, stopTokens, sampling, key }: GenerationRequest,
  version: number | undefined,
): string {
  const others = { maxTokens, stopTokens, sampling, key, version: version ?? null };
  return createHash('sha256')
    .update(canonicalJson(others))
    .update(Int32Array.from(tokens))
    .digest('hex')
    .slice(0, askedDigits);
}
