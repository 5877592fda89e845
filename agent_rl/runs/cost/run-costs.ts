import type { Config } from '../../config/index.ts';
import { runLength } from '../../config/index.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import {
  addTokens,
  noTokens,
  sampling,
  type TokenCounts,
} from '../../rollout/tokens/token-counts.ts';
import type { Metrics } from '../../telemetry/metric-names.ts';
import { forecastText, type Taken } from './forecast.ts';

type Counted = Pick<Trajectory, 'spans' | 'failedAttempts'>;

/** What one session of a run samples, reads and trains on, and what the rest will take. */
export class RunCosts {
  #total = noTokens;
  #iteration = noTokens;
  #evaluation = noTokens;
  #evaluated: Taken | undefined;
  #forecast = false;

  constructor(private readonly config: Config) {}

  /** Of this session so far. */
  get tokens(): TokenCounts {
    return this.#total;
  }

  noteEpisode(episode: readonly Counted[]): void {
    for (const trajectory of episode) this.#iteration = this.#add(this.#iteration, trajectory);
  }

  noteEvaluationEpisode(episode: readonly Counted[]): void {
    for (const trajectory of episode) this.#evaluation = this.#add(this.#evaluation, trajectory);
  }

  /** Makes an evaluation, which says what later ones take. */
  async evaluating<Made>(make: () => Promise<Made>): Promise<Made> {
    this.#evaluation = noTokens;
    const began = performance.now();
    const made = await make();
    const seconds = (performance.now() - began) / 1000;
    this.#evaluated = { tokens: this.#evaluation, seconds };
    return made;
  }

  /** @returns after the first iteration of the session, what the rest will take */
  noteIteration(iteration: number, metrics: Metrics): string | undefined {
    const trained = { ...noTokens, trained: metrics['train/updatedTokens'] ?? 0 };
    this.#total = addTokens(this.#total, trained);
    const tokens = addTokens(this.#iteration, trained);
    this.#iteration = noTokens;
    const iterations = runLength(this.config).last - iteration;
    if (this.#forecast || iterations === 0) return undefined;
    this.#forecast = true;
    const seconds = metrics['seconds/total'] ?? 0;
    return forecastText({ tokens, seconds }, this.#evaluated, {
      iterations,
      evaluations: evaluationsAfter(iteration, this.config),
      prices: this.config.run.prices,
    });
  }

  #add(tokens: TokenCounts, { spans, failedAttempts = [] }: Counted): TokenCounts {
    const own = sampling({ spans });
    // What attempts read that failed is not known.
    const failed = failedAttempts.reduce((sum, { sampledTokens }) => sum + sampledTokens, 0);
    const counted = { ...own, sampled: own.sampled + failed };
    this.#total = addTokens(this.#total, counted);
    return addTokens(tokens, counted);
  }
}

/** Evaluations of the held-out tasks that follow an iteration. */
function evaluationsAfter(iteration: number, config: Config): number {
  const { every, after } = config.eval;
  const { last } = runLength(config);
  const upTo = (end: number): number => (every === 0 ? 0 : Math.floor(end / every));
  return upTo(last - 1) - upTo(Math.min(iteration, last - 1)) + Number(after);
}
