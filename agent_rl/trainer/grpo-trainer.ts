import { drawsOf, stateAfter } from '../../dataset/tasks/plan/task-plan.ts';
import { attemptsOf } from '../config/index.ts';
import { truncates } from '../core/services/generator.ts';
import { AgentRlError } from '../core/errors.ts';
import { spanned } from '../core/profile/spans.ts';
import type { Learner } from '../core/services/learner.ts';
import { doneUnlessAborted } from '../core/stopping/abort.ts';
import { referenceOf, type Scorer } from '../core/services/scorer.ts';
import { keepLedger } from '../rollout/tokens/ledger.ts';
import { Stopwatch } from '../telemetry/stopwatch.ts';
import { buildData, type TracedDatum } from './build-data.ts';
import { collectGroups, type KlRewarding } from './collect/collect-groups.ts';
import { rolloutsIn } from './collect/collection.ts';
import { withKlRewards } from './collect/kl-rewards.ts';
import { countFailures, iterationsLookedAt } from './collect/failure-guard.ts';
import { evaluationsDue } from './evaluations-due.ts';
import { type Evaluation, evaluate, evaluationMetrics, selectionMetrics } from './evaluate.ts';
import { strategyOf } from './strategies/strategy-of.ts';
import { type Comparison, compare } from './success-rate.ts';
import {
  addToTotals,
  iterationMetrics,
  type IterationReport,
  noTotals,
} from './iteration-report.ts';
import { learnedParts } from './learned-parts.ts';
import { optimOptionsAt, plannedIterations } from './optim-options.ts';
import type {
  CheckpointReason,
  EvaluationTime,
  GrpoTrainerParts,
  TrainerObserver,
  TrainerPhase,
  TrainerState,
  TrainingResult,
} from './trainer-contracts.ts';
import { requireSameSelection } from './require-same-selection.ts';
import type { GrpoOptions } from './training-options.ts';
import { type StepsTaken, takeSteps } from './steps/take-steps.ts';

/** A phase without the iterations done. */
type PhaseOnly<Phase = TrainerPhase> = Phase extends unknown ? Omit<Phase, 'iteration'> : never;

type Evaluations = Partial<Record<EvaluationTime, Evaluation>>;

/**
 * Group-relative policy optimisation: collect groups of episodes, compare each with its group, follow the gradient,
 * publish the weights, again.
 *
 * Shao et al. 2024, algorithm 1, https://arxiv.org/abs/2402.03300
 */
export class GRPOTrainer {
  readonly #parts: GrpoTrainerParts;
  readonly #options: GrpoOptions;
  readonly #observer: TrainerObserver;
  #state: TrainerState;
  /** Iteration of the newest checkpoint, though it may have been tried in vain. */
  #checkpointed: number | undefined;
  /** The weights have moved, and the iteration they moved in is not recorded. */
  #midway = false;

  /** @throws AgentRlError `CONFIG_INVALID` when the best checkpoint is to be kept and there is nothing to choose it by. */
  constructor(parts: GrpoTrainerParts, options: GrpoOptions) {
    if (options.checkpoint.keepBest && !parts.selectionTasks?.length)
      throw new AgentRlError(
        'CONFIG_INVALID',
        'checkpoint.keepBest needs tasks to choose by that are not trained on. Give selectionTasks, or keepBest: false.',
      );
    this.#parts = parts;
    this.#options = options;
    this.#observer = parts.observer ?? {};
    this.#state = {
      iteration: 0,
      optimizerSteps: 0,
      tasks: stateAfter(0, parts.tasks),
      best: null,
      selectionTasks: parts.selectionTasks?.length ?? 0,
      before: null,
      totals: noTotals,
      recentFailures: [],
    };
  }

  /** Where the run stands after its last whole iteration. */
  state(): TrainerState {
    return this.#state;
  }

  /**
   * Resumes from a state; the learner's own is loaded separately.
   *
   * @throws AgentRlError `CHECKPOINT_INVALID` when it is of other tasks.
   */
  restore(state: TrainerState): void {
    requireSameSelection(state, this.#parts.selectionTasks);
    const tasks = stateAfter(drawsOf(state.tasks, this.#parts.tasks), this.#parts.tasks);
    this.#state = { ...state, tasks };
    this.#checkpointed = state.iteration;
  }

  /**
   * Trains until the last iteration, or until `signal` is aborted: then the iteration under way is dropped unless its
   * update has begun, a checkpoint is written, and the result says `interrupted`.
   *
   * @throws AgentRlError `ROLLOUTS_FAILED`, `PARITY_BROKEN`, what the learner and plugins throw, and what ends a run from
   * outside, such as `WEB_BUDGET_SPENT`. A checkpoint of the last whole iteration is written first, where there is none yet.
   */
  async train(signal: AbortSignal): Promise<TrainingResult> {
    try {
      return await this.#train(signal);
    } catch (thrown) {
      await this.#keepState();
      throw thrown;
    }
  }

  /**
   * Writes a checkpoint after a failure, unless the newest is of the last whole iteration or nothing was done yet. What
   * a failed update has accumulated is no part of it.
   */
  async #keepState(): Promise<void> {
    const { iteration, before } = this.#state;
    const nothingDone = iteration === 0 && before === null;
    if (this.#midway) return this.#observer.onStateLost?.();
    if (nothingDone || this.#checkpointed === iteration) return;
    try {
      await this.#checkpoint('failed');
    } catch (problem) {
      // What failed first is what is thrown.
      this.#observer.onStateLost?.(problem);
    }
  }

  #enter(phase: PhaseOnly): void {
    this.#observer.onPhase?.({ ...phase, iteration: this.#state.iteration });
  }

  async #checkpoint(reason: Exclude<CheckpointReason, 'best'>): Promise<void> {
    this.#checkpointed = this.#state.iteration;
    this.#enter({ name: 'checkpoint' });
    await spanned({ track: 'trainer', name: 'checkpoint' }, async () =>
      this.#observer.onCheckpoint?.(reason, this.#state),
    );
  }

  async #train(signal: AbortSignal): Promise<TrainingResult> {
    const { train, eval: evaluation, checkpoint } = this.#options;
    await this.#publish(signal);
    const before = evaluation.before ? await this.#baseline(signal) : undefined;
    await this.#catchUp(signal);
    while (this.#state.iteration < train.iterations && !signal.aborted) {
      if (!(await this.#iterate(signal))) break;
      const { iteration } = this.#state;
      const last = iteration === train.iterations;
      if (!last && checkpoint.every > 0 && iteration % checkpoint.every === 0) {
        await this.#checkpoint('periodic');
      }
    }
    const finished = this.#state.iteration === train.iterations;
    await this.#checkpoint(finished ? 'last' : 'interrupted');
    const after = evaluation.after && finished ? await this.#evaluate('after', signal) : undefined;
    const difference = after && this.#sinceBefore(after);
    return {
      interrupted: signal.aborted,
      control: train.control ?? 'none',
      state: this.#state,
      before,
      after,
      difference,
    };
  }

  /** An iteration whose publication is interrupted is whole: nothing is drawn from its weights before the run goes on. */
  #publish(signal: AbortSignal): Promise<unknown> {
    return doneUnlessAborted(() => this.#parts.weights.publish(signal), signal);
  }

  /** The evaluation before the first update: made once in a run's life, whether or not it is resumed. */
  async #baseline(signal: AbortSignal): Promise<Evaluation | undefined> {
    const { before, iteration } = this.#state;
    if (before !== null) return { ...before, rollouts: [] };
    if (iteration > 0) return undefined;
    const made = await this.#evaluate('before', signal);
    if (made === undefined) return undefined;
    const { rollouts: _, ...kept } = made;
    this.#state = { ...this.#state, before: kept };
    return made;
  }

  /** One iteration; false when it was interrupted and left no trace. */
  async #iterate(signal: AbortSignal): Promise<boolean> {
    const { rollouts, rewarding, tasks } = this.#parts;
    const { algorithm, rollout, train } = this.#options;
    const { iteration, optimizerSteps } = this.#state;
    const drawn = drawsOf(this.#state.tasks, tasks);
    const group = `iteration ${iteration + 1}`;
    const watch = new Stopwatch(['collect', 'update', 'publish'], {
      shown: { track: 'trainer', group },
    });

    const episodes = rollout.tasksPerStep * rollout.groupSize;
    this.#enter({ name: 'collect', episodes });
    const collection = await watch.time('collect', () =>
      collectGroups({
        ...this.#options,
        control: train.control ?? 'none',
        rollouts,
        rewarding,
        tasks,
        drawn,
        withKl: this.#withKl(),
        failuresBefore: this.#state.recentFailures,
        iteration,
        step: optimizerSteps,
        signal,
        onEpisode: (one) => this.#observer.onEpisode?.(one),
      }),
    );
    if (signal.aborted) return false;

    const training = buildData(collection, algorithm, rollout);
    const ledger = keepLedger(training.uses, training.trainedTokens);
    this.#enter({ name: 'update' });
    const taken = await watch.time('update', () => this.#update(training.updates));
    const { epochs, correction } = taken;
    if (epochs.length > 0) {
      this.#enter({ name: 'publish' });
      await watch.time('publish', () => this.#publish(signal));
    }

    const report: IterationReport = {
      collection,
      training,
      ledger,
      epochs,
      correction,
      sent: taken.sent.values(),
      gap: this.#comparable() ? epochs[0]?.gap : undefined,
      learningRate: this.#optimAt(algorithm.epochs * algorithm.updatesPerBatch - 1).learningRate,
      optimizerSteps: optimizerSteps + epochs.length,
      seconds: { total: watch.total, ...watch.seconds },
    };
    this.#midway = true;
    this.#state = {
      ...this.#state,
      iteration: iteration + 1,
      optimizerSteps: report.optimizerSteps,
      tasks: stateAfter(drawn + rollout.tasksPerStep, tasks),
      totals: addToTotals(this.#state.totals, report),
      recentFailures: [...this.#state.recentFailures, countFailures(rolloutsIn(collection))].slice(
        1 - iterationsLookedAt,
      ),
    };

    this.#state = {
      ...this.#state,
      evaluationsDue: evaluationsDue(this.#state.iteration, this.#options),
    };

    const made: Evaluations = {};
    const record = (): void => {
      const { during, selection } = made;
      const metrics = {
        ...iterationMetrics(report),
        ...(during && evaluationMetrics(during, this.#sinceBefore(during))),
        ...(selection && selectionMetrics(selection)),
      };
      const learned = learnedParts(collection, training, taken);
      this.#observer.onIteration?.(iteration + 1, metrics, learned);
      this.#midway = false;
    };
    try {
      await this.#evaluateDue(made, signal);
    } finally {
      // The iteration is whole without them.
      record();
    }
    await this.#choose(made);
    return true;
  }

  /** Makes the evaluations that are due, and adds each to what is made. */
  async #evaluateDue(made: Evaluations, signal: AbortSignal): Promise<void> {
    for (const when of this.#state.evaluationsDue ?? []) {
      const evaluation = await this.#evaluate(when, signal);
      if (evaluation === undefined) return;
      made[when] = evaluation;
      // The choice is made once the best checkpoint is written.
      if (when !== 'selection') this.#settle(when);
    }
  }

  #settle(made: EvaluationTime): void {
    const left = (this.#state.evaluationsDue ?? []).filter((due) => due !== made);
    this.#state = { ...this.#state, evaluationsDue: left };
  }

  /** What the session before did not come to after its last iteration; the line of its metrics stays without it. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    const made: Evaluations = {};
    await this.#evaluateDue(made, signal);
    await this.#choose(made);
  }

  async #choose({ selection }: Evaluations): Promise<void> {
    if (selection === undefined) return;
    await this.#keepBest(selection);
    this.#settle('selection');
  }

  /** Takes the KL to the reference off rewards, where the run has it there. */
  #withKl(): KlRewarding | undefined {
    const { algorithm, rollout } = this.#options;
    const { klInReward } = algorithm;
    if (klInReward === undefined) return undefined;
    const { temperature } = rollout.sampling;
    return (groups) => withKlRewards(this.#scoring(), groups, { ...klInReward, temperature });
  }

  #update(updates: readonly (readonly TracedDatum[])[]): Promise<StepsTaken> {
    const { algorithm, rollout, train } = this.#options;
    return takeSteps(this.#scoring(), updates, {
      algorithm,
      temperature: rollout.sampling.temperature,
      parityBound: this.#comparable() ? train.parityBound : undefined,
      optimAt: (step) => this.#optimAt(step),
      onStep: () => {
        this.#midway = true;
      },
    });
  }

  #scoring(): { learner: Learner; reference: Scorer } {
    const { learner, reference = referenceOf(learner) } = this.#parts;
    return { learner, reference };
  }

  /** Places in the schedule are planned: an iteration with nothing to learn uses its own up. */
  #optimAt(stepOfIteration: number) {
    const { algorithm, train } = this.#options;
    const steps = algorithm.epochs * algorithm.updatesPerBatch;
    const step = this.#state.iteration * steps + stepOfIteration;
    return optimOptionsAt(step, plannedIterations(train) * steps, train);
  }

  /** With truncated sampling the drawn distribution is not the one trained, and a gap means nothing. */
  #comparable(): boolean {
    return !truncates(this.#options.rollout.sampling);
  }

  async #evaluate(when: EvaluationTime, signal: AbortSignal): Promise<Evaluation | undefined> {
    const { rollouts, evalTasks, selectionTasks = [], groupsOf } = this.#parts;
    const tasks = when === 'selection' ? selectionTasks : evalTasks;
    const { samples, temperature } = attemptsOf(this.#options.eval);
    const { iteration, optimizerSteps: step } = this.#state;
    const episodes = tasks.length * samples;
    this.#enter({ name: 'evaluate', when, episodes });
    const make = () =>
      evaluate(rollouts, tasks, {
        samples,
        temperature,
        strategy: strategyOf(this.#options.eval),
        seed: this.#options.seed,
        step,
        key: { run: this.#options.run, when, iteration },
        failures: this.#options.rollout.failures,
        signal,
        onEpisode: (one) => this.#observer.onEvaluationEpisode?.(one, episodes),
        groupsOf,
      });
    const result = await spanned(
      { track: 'trainer', name: `evaluation ${when}` },
      async () => this.#observer.aroundEvaluation?.(make) ?? make(),
    );
    // Half an evaluation would pass for a whole one.
    if (signal.aborted) return undefined;
    this.#observer.onEvaluation?.(when, iteration, result);
    return result;
  }

  /** What changed since the baseline; nothing where that is of a version that did not keep it task by task. */
  #sinceBefore({ perTask }: Evaluation): Comparison | undefined {
    const { before } = this.#state;
    return before === null ? undefined : compare(before.perTask ?? [], perTask, this.#options.seed);
  }

  async #keepBest({ successRate }: Evaluation): Promise<void> {
    if (successRate === null) return;
    if (this.#state.best !== null && successRate <= this.#state.best.successRate) return;
    const state = { ...this.#state, best: { iteration: this.#state.iteration, successRate } };
    this.#enter({ name: 'checkpoint' });
    await this.#observer.onCheckpoint?.('best', state);
    this.#state = state;
  }
}
