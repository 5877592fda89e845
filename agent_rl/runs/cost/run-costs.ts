import type { Config } from '../../config/index.ts';
import { runLength } from '../../config/index.ts';
import type { Rollout } from '../../core/rollout.ts';
import {
  addTokens,
  noTokens,
  sampling,
  timesTokens,
  type TokenCounts,
} from '../../rollout/tokens/token-counts.ts';
import type { Metrics } from '../../telemetry/metric-names.ts';
import { evaluationsAfter } from './evaluations-after.ts';
import { forecastText, type Rest, restTaken, type Taken } from './forecast.ts';

type Counted = Pick<Rollout, 'parts' | 'failedAttempts'>;

export interface RunCostsOptions {
  config: Config;
  /** Attempts of an evaluation on the held-out tasks, and of one on those that the best checkpoint is chosen by. */
  attempts: { heldOut: number; selection: number };
  /** In milliseconds. */
  clock?: () => number;
}

/** Iterations whose mean the next ones are expected to take: the newest, as what a policy writes grows or shrinks. */
const mostMeasured = 10;

/** What one session of a run samples, reads and trains on, and what the rest will take. */
export class RunCosts {
  #total = noTokens;
  #iteration = noTokens;
  #episodes = 0;
  #evaluation = { tokens: noTokens, attempts: 0 };
  /** One of the newest evaluation. */
  #attempt: Taken | undefined;
  /** Of the session, in all evaluations. */
  #evaluatedMs = 0;
  /** When the newest iterations ended, without the time for evaluations. */
  readonly #ends: number[] = [];
  #left: { seconds: number; at: number } | undefined;
  readonly #clock: () => number;
  readonly #began: number;

  constructor(private readonly options: RunCostsOptions) {
    this.#clock = options.clock ?? (() => performance.now());
    this.#began = this.#clock();
  }

  /** Of this session so far. */
  get tokens(): TokenCounts {
    return this.#total;
  }

  /** Until the run ends, by what was measured; undefined before the first iteration of the session. */
  readonly secondsLeft = (): number | undefined =>
    this.#left && this.#left.seconds - (this.#clock() - this.#left.at) / 1000;

  noteEpisode(rollout: Counted): void {
    this.#episodes += 1;
    this.#iteration = this.#add(this.#iteration, rollout);
  }

  noteEvaluationEpisode(rollout: Counted): void {
    this.#evaluation.attempts += 1;
    this.#evaluation.tokens = this.#add(this.#evaluation.tokens, rollout);
  }

  /** Makes an evaluation, which says what later ones take. */
  async evaluating<Made>(make: () => Promise<Made>): Promise<Made> {
    this.#evaluation = { tokens: noTokens, attempts: 0 };
    const began = this.#clock();
    const made = await make();
    const taken = this.#clock() - began;
    this.#evaluatedMs += taken;
    const { tokens, attempts } = this.#evaluation;
    this.#attempt = onAverage({ tokens, seconds: taken / 1000 }, attempts);
    return made;
  }

  /** @returns after the first iteration of the session, what the rest will take */
  noteIteration(iteration: number, metrics: Metrics): string | undefined {
    const trained = { ...noTokens, trained: metrics['train/updatedTokens'] ?? 0 };
    this.#total = addTokens(this.#total, trained);
    const drawn = { tokens: this.#iteration, seconds: metrics['seconds/collect'] ?? 0 };
    // Until something was evaluated, an attempt is expected to take what one of training does.
    const attempt = this.#attempt ?? onAverage(drawn, this.#episodes);
    const tokens = addTokens(drawn.tokens, trained);
    const taken = { tokens, seconds: this.#pace(metrics['seconds/total'] ?? 0) };
    this.#iteration = noTokens;
    this.#episodes = 0;
    const rest = this.#restAfter(iteration);
    const first = this.#left === undefined;
    const left = restTaken(taken, attempt, rest);
    this.#left = { seconds: left.seconds, at: this.#clock() };
    if (!first || rest.iterations + rest.attempts === 0) return undefined;
    const { prices } = this.options.config.run;
    return forecastText(left, (this.#left.at - this.#began) / 1000, prices);
  }

  /** Seconds of an iteration, checkpoints included. The first of a session, which gets all ready, counts until there is another. */
  #pace(seconds: number): number {
    this.#ends.push(this.#clock() - this.#evaluatedMs);
    if (this.#ends.length > mostMeasured + 1) this.#ends.shift();
    const [first = 0, last = 0] = [this.#ends[0], this.#ends.at(-1)];
    const between = this.#ends.length - 1;
    return between === 0 ? seconds : (last - first) / 1000 / between;
  }

  #restAfter(iteration: number): Rest {
    const { config, attempts } = this.options;
    const { heldOut, selection } = evaluationsAfter(iteration, config);
    return {
      iterations: runLength(config).last - iteration,
      attempts: heldOut * attempts.heldOut + selection * attempts.selection,
    };
  }

  #add(tokens: TokenCounts, { parts, failedAttempts }: Counted): TokenCounts {
    const own = parts.map(sampling).reduce(addTokens, noTokens);
    // What attempts read that failed is not known.
    const failed = failedAttempts.reduce((sum, { sampledTokens }) => sum + sampledTokens, 0);
    const counted = { ...own, sampled: own.sampled + failed };
    this.#total = addTokens(this.#total, counted);
    return addTokens(tokens, counted);
  }
}

const onAverage = ({ tokens, seconds }: Taken, count: number): Taken => ({
  tokens: timesTokens(1 / Math.max(1, count), tokens),
  seconds: seconds / Math.max(1, count),
});
