import { drawsOf } from '../../../dataset/tasks/plan/task-plan.ts';
import { AgentRlError } from '../../core/errors.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import { keyText } from '../../core/rollout.ts';
import { truncates } from '../../core/services/generator.ts';
import { publishedOf } from '../../core/services/scorer.ts';
import type { DrawnBy } from '../../core/services/weights.ts';
import { underSignals } from '../../core/stopping/abort.ts';
import { drawnMasks } from '../../core/transcript.ts';
import { enter, type GrpoStanding } from '../standing.ts';
import type { GrpoRun, TrainedPolicy } from '../trainer-contracts.ts';
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
 * each is played when it is asked for; at lag 1 while the weights are updated. It then begins when the one before it has ended,
 * or, with generators that sample of two versions at the same time, where that leaves workers free. Nothing depends on when
 * something ends.
 */
export class Collections {
  /** Of those that have begun, by their number. */
  readonly #open = new Map<number, Promise<Ended>>();
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
    if (ahead?.weights !== undefined) await soleOf(run).weights.use(ahead.weights, signal);
    const weights = ahead?.weights ?? this.at.published;
    this.#begin(state.iteration + 1, { step: ahead?.step ?? state.optimizerSteps, weights });
  }

  /** The collection of the next iteration. At lag 1, publishes the weights as they are and begins the one behind it. */
  async next(
    time: <Value>(what: 'collect' | 'publish', work: () => Promise<Value>) => Promise<Value>,
    publish: () => Promise<unknown>,
  ): Promise<Ended> {
    const { run, state, signal } = this.at;
    const number = state.iteration + 1;
    if (!this.#open.has(number)) this.#begin(number, { step: state.optimizerSteps });
    const waits = (soleOf(run).weights.versionsAtOnce ?? 1) < 2;
    const overlap = () => time('publish', () => this.#overlap(number + 1, publish));
    if (this.lag > 0 && !waits) await overlap();
    const ended = await time('collect', () => this.#open.get(number)!);
    if (this.lag > 0 && waits && !signal.aborted) await overlap();
    this.#open.delete(number);
    return ended;
  }

  async #overlap(number: number, publish: () => Promise<unknown>): Promise<void> {
    await publish();
    const by = { step: this.at.state.optimizerSteps, weights: this.at.published };
    this.drawnBy.set(number, by);
    if (!this.#isLast(number - 1)) this.#begin(number, by);
  }

  /** An evaluation draws with newer weights: it waits for what is under way. */
  async settle(): Promise<void> {
    await Promise.all(this.#open.values());
  }

  /** Ends what is under way, at the end of a session. */
  async close(): Promise<void> {
    this.#over.abort();
    await Promise.allSettled(this.#open.values());
  }

  #isLast(iteration: number): boolean {
    return iteration >= this.at.run.options.train.iterations;
  }

  #begin(number: number, by: DrawnBy): void {
    this.drawnBy.set(number, by);
    this.drawnBy.delete(number - 2);
    const playing = underSignals([this.at.signal, this.#over.signal], (signal) =>
      this.#play(number, by, signal),
    );
    // Its failure is thrown where it is waited for.
    playing.catch(() => undefined);
    this.#open.set(number, playing);
  }

  async #play(number: number, by: DrawnBy, signal: AbortSignal): Promise<Ended> {
    const { run, state } = this.at;
    const { rollout: plan, train } = run.options;
    const before = this.#open.get(number - 1);
    enter(this.at, { name: 'collect', episodes: plan.tasksPerStep * plan.groupSize });
    const played = await collectGroups({
      ...run.options,
      control: train.control ?? 'none',
      rollouts: run.rollouts,
      rewarding: run.rewarding,
      tasks: run.tasks,
      drawn: drawsOf(state.tasks, run.tasks) + (number - 1 - state.iteration) * plan.tasksPerStep,
      failuresBefore: async () => {
        const newest = before && countFailures(rolloutsIn((await before).played));
        return [...state.recentFailures, ...(newest ? [newest] : [])].slice(1 - iterationsLookedAt);
      },
      iteration: number - 1,
      step: by.step,
      signal,
      onRollout: (rollout) => run.emit({ type: 'rollout', rollout }),
    });
    if (this.lag === 0 || signal.aborted) return { played, gap: undefined };
    requireDrawnBy(played, by);
    return { played, gap: await this.#compare(number, played, by) };
  }

  /** Compares the log-probabilities of some sequences with what the learner computes under the weights that drew them. */
  async #compare(
    number: number,
    played: Collection<PlayedGroup>,
    { weights }: DrawnBy,
  ): Promise<ParityGap | undefined> {
    const { options } = this.at.run;
    const { learner } = soleOf(this.at.run);
    const isKept = learner.keepPublished !== undefined && weights !== undefined;
    if (!isKept || !isComparable(this.at.run)) return undefined;
    const random = new KeyedRng(options.seed, 'parity', number);
    const sample = sampleOf(played, random);
    const { temperature } = options.rollout.sampling;
    const logProbs = await publishedOf(learner, weights.version).score(
      sample.map(({ datum }) => datum.tokens),
      { temperature, wanted: sample.map(({ datum }) => datum.weights) },
    );
    const gap = gapOf(sample, logProbs);
    requireParity(gap, options.train.parityBound);
    return gap;
  }
}

/** The only policy of a run at lag 1, where several are refused; of others, the first. */
const soleOf = ({ policies }: Pick<GrpoRun, 'policies'>): TrainedPolicy =>
  policies.values().next().value!;

/** @throws AgentRlError `PLUGIN_LOAD_FAILED` when other weights sampled a token than the rule names */
function requireDrawnBy(played: Collection<PlayedGroup>, { step, weights }: DrawnBy): void {
  for (const { rollout, part } of membersIn(played)) {
    if (!part.learns) continue;
    const spans = part.sequences.flatMap((sequence) => sequence.spans);
    const other = spans.find(({ version = step }) => version !== step);
    if (weights === undefined || other === undefined) continue;
    throw new AgentRlError(
      'PLUGIN_LOAD_FAILED',
      `${keyText(rollout.key)}: version ${other.version} of the weights sampled a turn that version ${step} was to sample. A policy has to pass options.version of act() to its generator.`,
    );
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
