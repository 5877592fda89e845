import { createHash } from 'node:crypto';

import { canonicalJson } from '../../core/services/canonical-json.ts';
import type {
  Generation,
  GenerationRequest,
  GenerationTotals,
  Generator,
  GeneratorInfo,
} from '../../core/services/generator.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import type { WeightRef } from '../../core/services/weights.ts';

/** A store of generations by their requests. */
export interface GenerationRecord {
  /** What was drawn for it before, and not given since. */
  take(asked: string): Generation | undefined;
  /** Is on disk when it returns. */
  keep(asked: string, drawn: Generation): void;
}

/**
 * A generator whose answers cannot be had a second time: each is recorded before it is given, and a request that is recorded is
 * answered from there. So a run that is resumed plays its open iterations again without asking for a token twice.
 */
export class RecordingGenerator implements Generator {
  /** Absent where the other does not count. */
  readonly totals?: () => Promise<GenerationTotals>;
  #record: GenerationRecord | undefined;
  #version: number | undefined;

  constructor(private readonly inner: Generator) {
    if (inner.totals !== undefined) this.totals = () => inner.totals!();
  }

  /** From now on. */
  recordIn(record: GenerationRecord): void {
    this.#record = record;
  }

  describe(): Promise<GeneratorInfo> {
    return this.inner.describe();
  }

  async generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    const record = this.#record;
    if (record === undefined) return this.inner.generate(request, signal);
    const asked = askedFor(request, this.#version);
    const known = record.take(asked);
    if (known !== undefined) return known;
    const drawn = await this.inner.generate(request, signal);
    // An episode that was given up is played anew.
    if (drawn.stop !== 'aborted') record.keep(asked, drawn);
    return drawn;
  }

  release(episode: string): void {
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

/** Names a request and the weights that are to answer it: SHA-256 over all of it. */
const askedFor = (request: GenerationRequest, version: number | undefined): string =>
  createHash('sha256')
    .update(canonicalJson({ ...request, version: version ?? null }))
    .digest('hex');
