import { drawsOf } from '../../../dataset/tasks/plan/task-plan.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import { truncates } from '../../core/services/generator.ts';
import { publishedOf } from '../../core/services/scorer.ts';
import type { DrawnBy } from '../../core/services/weights.ts';
import { underSignals } from '../../core/stopping/abort.ts';
import { drawnMasks } from '../../core/transcript.ts';
import { enter, type GrpoStanding } from '../standing.ts';
import { gapOf, type ParityGap, requireParity, type ScoredSequence } from '../steps/parity.ts';
import { collectGroups } from './collect-groups.ts';
import { type Collection, membersIn, type PlayedGroup, rolloutsIn } from './collection.ts';
import { countFailures, iterationsLookedAt } from './failure-guard.ts';

interface Ended {
  played: Collection<PlayedGroup>;
  /** How far learner and generator disagree on the weights that drew it; absent at lag 0, where the update shows it. */
  gap: ParityGap | undefined;
}

/** Of the tokens of a collection, those by which generator and learner are compared at lag 1. */
const comparedShare = 0.05;

/**
 * The collections of a run. Collection c, from 1, is drawn wholly by the weights after iteration max(0, c - 1 - lag). At lag 0
 * each is played when it is asked for; at lag 1 it begins when the one before it has ended, and is played while the
 * weights are updated. One version of the weights draws at a time, and nothing depends on when something ends.
 */
export class Collections {
  #ahead: Promise<Ended> | undefined;
  readonly #over = new AbortController();

  /** @param drawnBy the weights of the newest collections, by their number */
  constructor(
    private readonly at: GrpoStanding,
    private readonly drawnBy: Map<number, DrawnBy>,
  ) {}

  /** Optimiser steps behind the weights that drew a collection. */
  stepOf(number: number): number {
    return this.drawnBy.get(number)?.step ?? Number.NaN;
  }

  get lag(): number {
    return this.at.run.options.lag;
  }

  /** At lag 1, begins the first collection of a session with the weights that the rule names. */
  async start(): Promise<void> {
    const { run, state, signal } = this.at;
    if (this.lag === 0 || this.#isLast(state.iteration)) return;
    const { ahead } = run.from ?? {};
    if (ahead?.weights !== undefined) await run.weights.use(ahead.weights, signal);
    const weights = ahead?.weights ?? this.at.published;
    this.#begin(state.iteration + 1, { step: ahead?.step ?? state.optimizerSteps, weights }, []);
  }

  /** The collection of the next iteration. */
  async next(): Promise<Ended> {
    const { iteration, optimizerSteps } = this.at.state;
    if (this.#ahead === undefined) this.#begin(iteration + 1, { step: optimizerSteps }, []);
    const ended = await this.#ahead!;
    this.#ahead = undefined;
    return ended;
  }

  /** At lag 1, publishes the weights as they are and begins the collection behind the one that has ended. */
  async overlap({ played }: Ended, publish: () => Promise<unknown>): Promise<void> {
    const { state } = this.at;
    const number = state.iteration + 2;
    if (this.lag === 0) return;
    await publish();
    const by = { step: state.optimizerSteps, weights: this.at.published };
    this.drawnBy.set(number, by);
    if (!this.#isLast(number - 1)) this.#begin(number, by, [countFailures(rolloutsIn(played))]);
  }

  /** An evaluation draws with newer weights: it waits for the collection under way. */
  async settle(): Promise<void> {
    await this.#ahead;
  }

  /** Ends what is under way, at the end of a session. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#ahead?.catch(() => undefined);
  }

  #isLast(iteration: number): boolean {
    return iteration >= this.at.run.options.train.iterations;
  }

  #begin(number: number, by: DrawnBy, failures: ReturnType<typeof countFailures>[]): void {
    this.drawnBy.set(number, by);
    this.drawnBy.delete(number - 2);
    this.#ahead = underSignals([this.at.signal, this.#over.signal], (signal) =>
      this.#play(number, by.step, { failures, signal }),
    );
    // Its failure is thrown where it is waited for.
    this.#ahead.catch(() => undefined);
  }

  async #play(
    number: number,
    step: number,
    {
      failures,
      signal,
    }: { failures: readonly ReturnType<typeof countFailures>[]; signal: AbortSignal },
  ): Promise<Ended> {
    const { run, state } = this.at;
    const { rollout: plan, train } = run.options;
    enter(this.at, { name: 'collect', episodes: plan.tasksPerStep * plan.groupSize });
    const played = await collectGroups({
      ...run.options,
      control: train.control ?? 'none',
      rollouts: run.rollouts,
      rewarding: run.rewarding,
      tasks: run.tasks,
      drawn: drawsOf(state.tasks, run.tasks) + (number - 1 - state.iteration) * plan.tasksPerStep,
      failuresBefore: [...state.recentFailures, ...failures].slice(1 - iterationsLookedAt),
      iteration: number - 1,
      step,
      signal,
      onRollout: (rollout) => run.emit({ type: 'rollout', rollout }),
    });
    const isCompared = this.lag > 0 && isComparable(this.at.run) && !signal.aborted;
    return { played, gap: isCompared ? await this.#compare(number, played) : undefined };
  }

  /** Compares the log-probabilities of some sequences with what the learner computes under the weights that drew them. */
  async #compare(number: number, played: Collection<PlayedGroup>): Promise<ParityGap | undefined> {
    const { learner, options } = this.at.run;
    if (learner.keepPublished === undefined) return undefined;
    const random = new KeyedRng(options.seed, 'parity', number);
    const sample = sampleOf(played, random);
    const { temperature } = options.rollout.sampling;
    const logProbs = await publishedOf(learner).score(
      sample.map(({ datum }) => datum.tokens),
      { temperature, wanted: sample.map(({ datum }) => datum.weights) },
    );
    const gap = gapOf(sample, logProbs);
    requireParity(gap, options.train.parityBound);
    return gap;
  }
}

/** With truncated sampling the sampled distribution differs from the trained one, and a gap is meaningless. */
export const isComparable = ({ options }: GrpoStanding['run']): boolean =>
  !truncates(options.rollout.sampling);

/** Sequences of learning agents with few of a collection's tokens, at least one. */
function sampleOf(played: Collection<PlayedGroup>, random: KeyedRng): ScoredSequence[] {
  const all = membersIn(played)
    .filter(({ part }) => part.learns)
    .flatMap(({ rollout, part }) => {
      const masks = drawnMasks(part.sequences);
      return part.sequences.map((sequence, index): ScoredSequence => ({
        rollout,
        sequence,
        datum: {
          tokens: Int32Array.from(sequence.tokens),
          weights: Float32Array.from(masks[index] ?? []),
        },
      }));
    });
  let left = comparedShare * all.reduce((sum, { sequence }) => sum + sequence.tokens.length, 0);
  return random.shuffle(all).filter(({ sequence: { tokens } }, index) => {
    if (index > 0 && tokens.length > left) return false;
    left -= tokens.length;
    return true;
  });
}
