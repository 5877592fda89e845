import type { Log, Metrics } from '../../telemetry/index.ts';
import type { Subscriber } from '../../trainer/trainer-contracts.ts';
import { episodeRecord } from '../episodes/episode-record.ts';
import type { IterationMetrics } from '../query/metrics.ts';
import type { Check } from './check.ts';
import { type CountedPart, EpisodeCounts } from './episode-counts.ts';
import { checks, type Finding, isTrouble, runChecks } from './run-checks.ts';
import type { RunEvidence } from './run-evidence.ts';
import { Series } from '../query/series.ts';
import { leastIterations } from './trend.ts';

/** Iterations that are kept, so that a quarter of them is the first five or the newest five. */
const [first, newest] = [5, 15];

/** What a run says when it begins, or what its own messages tell. */
const saidElsewhere: ReadonlySet<string> = new Set(['control', 'failures', 'parity']);

/** What is known of a run before it trains. */
export type WatchedRun = Pick<RunEvidence, 'settings' | 'tools' | 'prompt' | 'trainedParameters'>;

/**
 * Looks for the signs that `agent-rl runs explain` knows while a run trains. Each is reported once, of several the first cause
 * first, and effects only where no cause is found: what is surely wrong at once, what may be right once there are enough
 * iterations for a trend.
 */
export class RunWatch {
  readonly #first: IterationMetrics[] = [];
  readonly #newest: IterationMetrics[] = [];
  readonly #counts = new EpisodeCounts();
  readonly #told = new Set<string>();
  #seenBefore: ReadonlySet<string> = new Set();

  constructor(
    private readonly run: WatchedRun,
    private readonly watched: readonly Check[] = checks.filter(
      ({ name }) => !saidElsewhere.has(name),
    ),
  ) {}

  /** What is new after an iteration. */
  note(iteration: number, metrics: Metrics, episodes: readonly CountedPart[]): Finding | undefined {
    const kept = this.#first.length < first ? this.#first : this.#newest;
    kept.push({ iteration, metrics });
    if (this.#newest.length > newest) this.#newest.shift();
    for (const episode of episodes) this.#counts.note(episode);
    const found = runChecks(this.#evidence(), this.watched).filter(isTrouble);
    const iterations = this.#first.length + this.#newest.length;
    // Twice in a row: once may be the tasks that were drawn.
    const causes = found.filter(({ effect }) => !effect);
    const lasting = (causes.length > 0 ? causes : found).find(
      ({ check, verdict }) =>
        !this.#told.has(check) &&
        this.#seenBefore.has(check) &&
        (verdict === 'wrong' || iterations >= leastIterations),
    );
    this.#seenBefore = new Set(found.map(({ check }) => check));
    if (lasting !== undefined) this.#told.add(lasting.check);
    return lasting;
  }

  #evidence(): RunEvidence {
    return {
      ...this.run,
      series: new Series([...this.#first, ...this.#newest]),
      episodes: this.#counts.tally(),
      hasSummary: false,
    };
  }
}

/** Warns of what is found after an iteration. */
export function warningsOf(run: WatchedRun, log: Pick<Log, 'warn'>): Subscriber {
  const watch = new RunWatch(run);
  return (event) => {
    if (event.type !== 'iteration') return;
    const { iteration, metrics } = event;
    const parts = event.learned.map((one) => ({
      episode: episodeRecord(one),
      learned: { use: one.use },
    }));
    const finding = watch.note(iteration, metrics, parts);
    if (finding !== undefined) log.warn(`Iteration ${iteration}: ${warningText(finding)}`);
  };
}

/** A finding as a warning: what is the case, and what to try. */
export function warningText({ says, check, tries = [] }: Finding): string {
  const remedies = tries.map((one) => `${capital(one)}.`).join(' ');
  return `${capital(says)} [${check}]. ${remedies}`.trim();
}

/** The name of a setting stays as it is. */
const capital = (text: string): string =>
  /^[a-z]+\.\w/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
