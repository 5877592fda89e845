import { drawsOf, stateAfter } from '../../dataset/tasks/plan/task-plan.ts';
import type { DrawnBy } from '../core/services/weights.ts';
import { referenceOf, scorerOf } from '../core/services/scorer.ts';
import { doneUnlessAborted } from '../core/stopping/abort.ts';
import type { TranscriptRecord } from '../core/transcript.ts';
import { keepLedger, type Ledger } from '../rollout/tokens/ledger.ts';
import { measured } from '../telemetry/metric-names.ts';
import { Stopwatch } from '../telemetry/stopwatch.ts';
import { buildData, type TrainingData } from './build-data.ts';
import { withAdvantages } from './collect/collect-groups.ts';
import { type Collection, type PlayedGroup, rolloutsIn } from './collect/collection.ts';
import { Collections, isComparable } from './collect/collections.ts';
import { countFailures, iterationsLookedAt } from './collect/failure-guard.ts';
import { withKlRewards } from './collect/kl-rewards.ts';
import {
  baseline,
  chooseBest,
  type Evaluations,
  evaluateDue,
  evaluateNow,
  evaluationsDue,
  metricsOf,
  requireHintGain,
  sinceBefore,
} from './evaluations-due.ts';
import { addToTotals, iterationMetrics, type IterationReport } from './iteration-report.ts';
import { learnedParts, type SentSequence } from './learned-parts.ts';
import { optimOptionsAt, plannedIterations } from './optim-options.ts';
import { beginning, checkpoint, enter, type GrpoStanding, keepingState } from './standing.ts';
import { type ParityGap, widerGap } from './steps/parity.ts';
import { type StepsTaken, takeSteps } from './steps/take-steps.ts';
import { type Taught, taughtBy } from './steps/teach.ts';
import type { GrpoRun, TrainerState, TrainingResult } from './trainer-contracts.ts';

/** By the policy's name; the first is the one whose steps the state counts. */
type StepsByPolicy = ReadonlyMap<string, StepsTaken & Pick<Taught, 'kl'>>;

type Watch = Stopwatch<'collect' | 'update' | 'publish'>;

/**
 * Group-relative policy optimisation: collect groups of episodes, compare each with its group, follow the gradient,
 * publish the weights, again. Shao et al. 2024, algorithm 1, https://arxiv.org/abs/2402.03300, with four departures:
 *
 * 1. Tokens carry the weight of the loss, as `algorithm.aggregation` says.
 * 2. An episode that the system failed has no reward and is left out of its group's statistics.
 * 3. An iteration's first step is taken only if generator and learner agree on its tokens (`train.parityBound`).
 * 4. All randomness is keyed: a resumed run behaves like one that never stopped.
 *
 * Several policies take a step each, one after another, from the tokens that they sampled; they are published and
 * recorded when all have stepped.
 *
 * Trains until the last iteration, or until `signal` is aborted: then the iteration under way is dropped unless its
 * update has begun, a checkpoint is written, and the result says `interrupted`.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the best checkpoint is to be kept and there is nothing to choose it by;
 * `CHECKPOINT_INVALID` when the state to resume from is of other tasks; `ROLLOUTS_FAILED`, `PARITY_BROKEN`, `HINT_WITHOUT_GAIN`, what the
 * learner and plugins throw, and what ends a run from outside, such as `WEB_BUDGET_SPENT`. A checkpoint of the last
 * completed iteration is written first, unless it already exists.
 */
export async function trainGrpo(run: GrpoRun, signal: AbortSignal): Promise<TrainingResult> {
  const { lag } = run.options;
  const drawnBy = new Map<number, DrawnBy>();
  const save: GrpoRun['save'] = (reason, state) =>
    run.save(reason, lag === 0 ? state : { ...state, ahead: drawnBy.get(state.iteration + 1) });
  return keepingState<TrainerState, GrpoRun, TrainingResult>(
    beginning({ ...run, save }, signal),
    async (at) => {
      const collections = new Collections(at, drawnBy);
      return trainFrom(at, collections).finally(() => collections.close());
    },
  );
}

async function trainFrom(at: GrpoStanding, collections: Collections): Promise<TrainingResult> {
  const { run, signal } = at;
  const { train, eval: evaluation, checkpoint: checkpoints, lag } = run.options;
  await publish(at);
  const before = evaluation.before ? await baseline(at) : undefined;
  if (before !== undefined) await requireHintGain(at, before);
  // Evaluations that the previous session still owes; the metrics of its last iteration stay without them.
  await chooseBest(at, await evaluateDue(at));
  await collections.start();

  while (at.state.iteration < train.iterations && !signal.aborted) {
    const watch = stopwatch(at);
    const time: Watch['time'] = (what, work) => watch.time(what, work);
    const ended = await collections.next(time, () => publish(at));
    // An incomplete collection is discarded.
    if (signal.aborted) break;
    // Timed as `collect`: the metrics of collecting include the comparison.
    const collected = await watch.time('collect', () => compare(at, ended.played));
    const batch = buildData(collected, run.options.algorithm, run.options.rollout, run.encode);
    const ledger = keepLedger(batch.uses, batch.trainedTokens);
    const taught = await watch.time('update', () => teach(at, batch));
    // Nothing has stepped yet: the iteration is discarded.
    if (taught === undefined) break;
    const taken = await watch.time('update', () => update(at, taught));
    if (lag === 0 && [...taken.values()].some(({ steps }) => steps.length > 0))
      await watch.time('publish', () => publish(at, 'publish'));
    await record(at, { collected, batch, ledger, taken, watch, collections, gap: ended.gap });
    const { iteration } = at.state;
    const last = iteration === train.iterations;
    if (!last && checkpoints.every > 0 && iteration % checkpoints.every === 0)
      await checkpoint(at, 'periodic');
  }

  const finished = at.state.iteration === train.iterations;
  await checkpoint(at, finished ? 'last' : 'interrupted');
  if (lag > 0 && finished) await publish(at);
  const after = evaluation.after && finished ? await evaluateNow(at, 'after') : undefined;
  return {
    interrupted: signal.aborted,
    control: train.control ?? 'none',
    state: at.state,
    before,
    after,
    difference: after && sinceBefore(at, after),
  };
}

const stopwatch = ({ state }: GrpoStanding): Watch => {
  const shown = { track: 'trainer', group: `iteration ${state.iteration + 1}` };
  return new Stopwatch(['collect', 'update', 'publish'], { shown });
};

/** An iteration whose publication is interrupted is complete: its weights are not sampled before the run continues. */
function publish(at: GrpoStanding, phase?: 'publish'): Promise<unknown> {
  if (phase !== undefined) enter(at, { name: phase });
  return doneUnlessAborted(async () => {
    const published = [];
    for (const { weights } of at.run.policies.values())
      published.push(await weights.publish(at.signal));
    [at.published] = published;
  }, at.signal);
}

/** Compares the parts of each group, after the KL penalty if it is in the reward. */
async function compare(
  { run }: GrpoStanding,
  { groups, discarded }: Collection<PlayedGroup>,
): Promise<Collection> {
  const { algorithm, rollout } = run.options;
  const { klInReward, advantage } = algorithm;
  const { temperature } = rollout.sampling;
  let rewarded = groups;
  if (klInReward !== undefined)
    for (const name of run.policies.keys()) {
      const policy = { name, ...scoring(run, name) };
      rewarded = await withKlRewards(policy, rewarded, { ...klInReward, temperature });
    }
  return { groups: withAdvantages(rewarded, advantage), discarded };
}

/** The data of each policy, with the teacher's judgement if there is one; undefined if interrupted. */
async function teach(
  { run, signal }: GrpoStanding,
  { updates }: TrainingData,
): Promise<ReadonlyMap<string, Taught> | undefined> {
  const { distill } = run.options.algorithm;
  const { temperature } = run.options.rollout.sampling;
  const taught = new Map<string, Taught>();
  const isDone = await doneUnlessAborted(async () => {
    for (const name of run.policies.keys()) {
      const own = updates.map((data) => data.filter(({ part }) => part.policy === name));
      const teacher = run.teacher ?? scorerOf(scoring(run, name).learner);
      const result = distill && (await taughtBy(teacher, own, distill, { temperature, signal }));
      taught.set(name, result ?? { updates: own, kl: undefined });
    }
  }, signal);
  return isDone ? taught : undefined;
}

/** The optimiser steps of an iteration, by policy. */
async function update(
  at: GrpoStanding,
  taught: ReadonlyMap<string, Taught>,
): Promise<StepsByPolicy> {
  const { algorithm, rollout, train, lag } = at.run.options;
  enter(at, { name: 'update' });
  const taken = new Map<string, StepsTaken & Pick<Taught, 'kl'>>();
  for (const [name, { updates: own, kl }] of taught) {
    const steps = await takeSteps(scoring(at.run, name), own, {
      algorithm,
      temperature: rollout.sampling.temperature,
      // At lag 1 the collection was drawn by older weights, with which it was compared when it ended.
      parityBound: lag === 0 && isComparable(at.run) ? train.parityBound : undefined,
      optimAt: (step) => optimAt(at, step),
      onStep: () => {
        at.midway = true;
      },
    });
    taken.set(name, { ...steps, kl });
  }
  return taken;
}

/** What scores and learns the tokens of a policy. */
function scoring({ policies, reference }: GrpoRun, name: string) {
  const { learner } = policies.get(name)!;
  return { learner, reference: reference ?? referenceOf(learner) };
}

/** Positions in the schedule are planned: an iteration without data still uses its steps. */
function optimAt({ run, state }: GrpoStanding, stepOfIteration: number) {
  const { algorithm, train } = run.options;
  const steps = algorithm.epochs * algorithm.updatesPerBatch;
  const step = state.iteration * steps + stepOfIteration;
  return optimOptionsAt(step, plannedIterations(train) * steps, train);
}

interface Iterated {
  collections: Collections;
  collected: Collection;
  /** At lag 1, between learner and generator. */
  gap: ParityGap | undefined;
  batch: TrainingData;
  ledger: Ledger;
  taken: StepsByPolicy;
  watch: Watch;
}

/** Advances the state by one iteration, makes the due evaluations, and emits both. */
async function record(at: GrpoStanding, iterated: Iterated): Promise<void> {
  const { run } = at;
  const { collected, batch, taken, collections } = iterated;
  const report = reportOf(at, iterated);
  at.midway = true;
  advance(at, report);
  const made: Evaluations = {};
  try {
    if (run.options.lag > 0 && at.state.evaluationsDue?.length !== 0) {
      await collections.settle();
      await publish(at);
    }
    await evaluateDue(at, made);
  } finally {
    // The iteration is complete without them.
    const { iteration } = at.state;
    const metrics = { ...iterationMetrics(report), ...metricsOf(at, made), ...run.system?.() };
    const learned = learnedParts(collected, batch, { sent: sentOf(taken) });
    run.emit({ type: 'iteration', iteration, metrics: measured(metrics), learned });
    at.midway = false;
  }
  await chooseBest(at, made);
}

function reportOf(
  at: GrpoStanding,
  { collected, batch, ledger, taken, watch, gap, collections }: Iterated,
) {
  const [own, ...others] = taken;
  const [, { steps, correction }] = own!;
  const { algorithm, lag } = at.run.options;
  const { epochs: passes, updatesPerBatch } = algorithm;
  return {
    collection: collected,
    training: batch,
    ledger,
    steps,
    correction,
    sent: [...sentOf(taken).values()],
    teacherKl: own![1].kl,
    others: new Map(others.map(([name, one]) => [name, one.steps])),
    gap: lag === 0 && isComparable(at.run) ? gapOfAll(taken) : gap,
    staleness:
      lag === 0 ? undefined : at.state.optimizerSteps - collections.stepOf(at.state.iteration + 1),
    learningRate: optimAt(at, passes * updatesPerBatch - 1).learningRate,
    optimizerSteps: at.state.optimizerSteps + steps.length,
    seconds: { total: watch.total, ...watch.seconds },
  };
}

const sentOf = (taken: StepsByPolicy): StepsTaken['sent'] => {
  const all = new Map<TranscriptRecord, SentSequence>();
  for (const { sent } of taken.values()) for (const [sequence, one] of sent) all.set(sequence, one);
  return all;
};

/** Of the first step of each policy, when generator and learner hold the same weights; undefined without a step. */
const gapOfAll = (taken: StepsByPolicy): ParityGap | undefined =>
  [...taken.values()]
    .map(({ steps: [first] }) => first?.gap)
    .reduce((one, other) => (one && other ? widerGap(one, other) : (one ?? other)));

function advance(at: GrpoStanding, report: IterationReport): void {
  const { run, state } = at;
  const iteration = state.iteration + 1;
  const drawn = drawsOf(state.tasks, run.tasks) + run.options.rollout.tasksPerStep;
  const failures = countFailures(rolloutsIn(report.collection));
  at.state = {
    ...state,
    iteration,
    optimizerSteps: report.optimizerSteps,
    tasks: stateAfter(drawn, run.tasks),
    totals: addToTotals(state.totals, report),
    recentFailures: [...state.recentFailures, failures].slice(1 - iterationsLookedAt),
    evaluationsDue: evaluationsDue(iteration, run.options),
  };
}
