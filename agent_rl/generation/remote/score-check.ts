import { KeyedRng } from '../../core/keyed-rng.ts';
import { largest } from '../../core/long-lists.ts';
import { type GenerationRequest, unbiased } from '../../core/services/generator.ts';
import type { Scorer } from '../../core/services/scorer.ts';
import { OtherScores } from './server-failures.ts';
import type { Drawn } from './server-protocol.ts';

/** Asks one server for tokens. */
export type Draw = (request: GenerationRequest, signal?: AbortSignal) => Promise<Drawn>;

/** What is compared of it. */
export type DrawScored = (
  ...asked: Parameters<Draw>
) => Promise<Pick<Drawn, 'tokens' | 'logProbs'>>;

/** What a server drew behind the fixed prompts. */
interface Scored {
  /** Prompt and drawn tokens. */
  sequences: readonly Int32Array[];
  /** Of drawn tokens, in nats. */
  logProbs: readonly (readonly number[])[];
}

interface Compared {
  server: Scored;
  scorer: readonly Float32Array[];
}

export interface ScoreCheckOptions {
  vocabSize: number;
  /** Largest difference of a token, in nats. */
  tolerance: number;
}

/** How far a server's log-probabilities are from a scorer's, in nats. */
export interface ScoreGap {
  largest: number;
  mean: number;
  tokens: number;
}

const prompts = 8;
const drawnTokens = 8;

/** The same in every run. Random ids, so that no part of the model can be wrong and have no part in it. */
const promptOf = (index: number, vocabSize: number): number[] => [
  ...new KeyedRng('fixed prompt', index).integers(4 + 2 * index, vocabSize),
];

/**
 * Whether servers have the weights that a scorer has: each draws a few tokens behind fixed prompts, at temperature 1 and by the
 * way that episodes are drawn, and their log-probabilities are compared.
 */
export class ScoreCheck {
  readonly #before = new Map<string, Compared>();

  constructor(private readonly options: ScoreCheckOptions) {}

  /** @throws OtherScores that names the token and both numbers */
  async hold(
    url: string,
    draw: DrawScored,
    scorer: Scorer,
    signal?: AbortSignal,
  ): Promise<ScoreGap> {
    const server = await this.#drawn(draw, signal);
    const { sequences, logProbs } = server;
    const wanted = sequences.map(({ length }, i) => {
      const first = length - (logProbs[i] ?? []).length;
      return Array.from({ length }, (_, place) => (place < first ? 0 : 1));
    });
    const scored = await scorer.score(sequences, { temperature: 1, wanted });
    const compared = { server, scorer: scored };
    const gaps = this.#nearGaps(url, compared);
    this.#requireMoved(url, compared);
    this.#before.set(url, compared);
    const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
    return { largest: largest(gaps, 0), mean, tokens: gaps.length };
  }

  async #drawn(draw: DrawScored, signal: AbortSignal | undefined): Promise<Scored> {
    const drawn = await Promise.all(
      Array.from({ length: prompts }, async (_, sample) => {
        const tokens = promptOf(sample, this.options.vocabSize);
        const made = await draw(
          {
            episode: `fixed prompt ${sample}`,
            tokens,
            maxTokens: drawnTokens,
            stopTokens: [],
            sampling: unbiased,
            key: { seed: 0, taskId: 'fixed prompt', sample, turn: 0 },
          },
          signal,
        );
        return { sequence: Int32Array.from([...tokens, ...made.tokens]), logProbs: made.logProbs };
      }),
    );
    return {
      sequences: drawn.map(({ sequence }) => sequence),
      logProbs: drawn.map(({ logProbs }) => logProbs),
    };
  }

  #nearGaps(url: string, { server, scorer }: Compared): number[] {
    const { tolerance } = this.options;
    const places = server.logProbs.flatMap((logProbs, i) => {
      const sequence = server.sequences[i]!;
      const first = sequence.length - logProbs.length;
      return logProbs.map((theirs, j) => {
        const ours = scorer[i]?.[first + j] ?? Number.NaN;
        const at = first + j;
        return { i, at, token: sequence[at], theirs, ours, gap: Math.abs(theirs - ours) };
      });
    });
    const gaps = places.map(({ gap }) => gap);
    const far = places.find(({ gap }) => !(gap <= tolerance));
    if (far === undefined) return gaps;
    const { i, at, token, theirs, ours } = far;
    throw new OtherScores(
      `${url} has the wrong weights. Token ${token} at position ${at} after fixed prompt ${i} has the log-probability ${theirs} on the server and ${ours} in the run's model. The largest difference over ${gaps.length} tokens is ${largest(gaps, 0)}; up to ${tolerance} is allowed (generator.tolerance). Serve the run's model. On a CPU, an output layer that is tied to the embedding may keep its old weights: serve a copy with tie_word_embeddings: false. A server in bfloat16 differs by 0.01 to 0.1, and a quantised server by more.`,
    );
  }

  /** Small changes hide below the tolerance; numbers that are the same bit by bit show that nothing was loaded. */
  #requireMoved(url: string, { server, scorer }: Compared): void {
    const before = this.#before.get(url);
    if (before === undefined || !isSame(before.server, server)) return;
    const moved = largestChange(before.scorer, scorer);
    if (moved <= rounding) return;
    throw new OtherScores(
      `${url} still has its previous weights, although it reported that it loaded the new ones. After the fixed prompts, its log-probabilities did not change at all, while the log-probabilities of the run's model changed by up to ${moved}.`,
    );
  }
}

/** Nats by which numbers of the same weights may differ in float32. */
const rounding = 1e-4;

const isSame = (one: Scored, other: Scored): boolean =>
  one.sequences.every((tokens, i) => tokens.join() === other.sequences[i]?.join()) &&
  one.logProbs.every((values, i) => values.join() === other.logProbs[i]?.join());

const largestChange = (one: readonly Float32Array[], other: readonly Float32Array[]): number =>
  largest(
    one.flatMap((values, i) => [...values].map((value, j) => Math.abs(value - other[i]![j]!))),
    0,
  );
