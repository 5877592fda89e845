import { sum } from '../algorithms/statistics.ts';
import { attemptsOf } from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';
import type { EvaluationTime } from '../core/run-event.ts';
import { spanned } from '../core/profile/spans.ts';
import type { Task } from '../core/tasks/task.ts';
import { groupBy } from '../core/long-lists.ts';
import { percentText, pointsText } from '../telemetry/figures.ts';
import { measured, type Metrics } from '../telemetry/metric-names.ts';
import { type Evaluation, evaluate, evaluationMetrics, selectionMetrics } from './evaluate.ts';
import { plannedIterations } from './optim-options.ts';
import { checkpoint, enter, type GrpoStanding } from './standing.ts';
import { hintText } from './steps/hint.ts';
import { strategyOf } from './strategies/strategy-of.ts';
import { type Comparison, compare, type TaskAttempts } from './success-rate.ts';
import type { GrpoOptions } from './training-options.ts';

export type Evaluations = Partial<Record<EvaluationTime, Evaluation>>;

/** The evaluations to make after an iteration; the one after training is not among them. */
export function evaluationsDue(
  iteration: number,
  {
    train,
    eval: evaluation,
    checkpoint: { keepBest },
  }: Pick<GrpoOptions, 'train' | 'eval' | 'checkpoint'>,
): EvaluationTime[] {
  const due = evaluation.every > 0 && iteration % evaluation.every === 0;
  const last = iteration === plannedIterations(train);
  const during: EvaluationTime[] = due && !last ? ['during'] : [];
  return keepBest && (due || last) ? [...during, 'selection'] : during;
}

/** The baseline before the first update: made once per run, even if the run is resumed. */
export async function baseline(at: GrpoStanding): Promise<Evaluation | undefined> {
  const { before, iteration } = at.state;
  if (before !== null) return { ...before, rollouts: [] };
  if (iteration > 0) return undefined;
  const made = await evaluateNow(at, 'before');
  if (made === undefined) return undefined;
  const { rollouts: _, ...kept } = made;
  at.state = { ...at.state, before: kept };
  return made;
}

/** Makes the due evaluations, and adds each to the finished ones. */
export async function evaluateDue(at: GrpoStanding, made: Evaluations = {}): Promise<Evaluations> {
  for (const when of at.state.evaluationsDue ?? []) {
    const evaluation = await evaluateNow(at, when);
    if (evaluation === undefined) break;
    made[when] = evaluation;
    // The choice is made once the best checkpoint is written.
    if (when !== 'selection') settle(at, when);
  }
  return made;
}

function settle(at: GrpoStanding, made: EvaluationTime): void {
  const left = (at.state.evaluationsDue ?? []).filter((due) => due !== made);
  at.state = { ...at.state, evaluationsDue: left };
}

/** Keeps the checkpoint that is best on the selection tasks; the earlier one of equals. */
export async function chooseBest(at: GrpoStanding, { selection }: Evaluations): Promise<void> {
  if (selection === undefined) return;
  const { best, iteration } = at.state;
  const { successRate } = selection;
  if (successRate !== null && (best === null || successRate > best.successRate))
    await checkpoint(at, 'best', { ...at.state, best: { iteration, successRate } });
  settle(at, 'selection');
}

/**
 * Evaluates the held-out tasks with the hint that the teacher will read, made from the attempts before. The gain in success
 * predicts what self-distillation can teach.
 *
 * @throws AgentRlError `HINT_WITHOUT_GAIN` if it is less than `algorithm.distill.leastHintGain`, or no task has a hint
 */
export async function requireHintGain(at: GrpoStanding, { rollouts }: Evaluation): Promise<void> {
  const { hint, leastHintGain = 0 } = at.run.options.algorithm.distill ?? {};
  const { before } = at.state;
  // Without attempts, the run was resumed and has measured it.
  if (hint === undefined || leastHintGain === 0 || before === null || rollouts.length === 0) return;
  // A run that ends here makes both evaluations again.
  at.state = { ...at.state, before: null };
  const known = groupBy(rollouts, ({ key }) => key.slot);
  const hinted = at.run.evalTasks.flatMap((task, slot) => {
    const group = known.get(slot)?.flatMap(({ parts }) => parts) ?? [];
    const isTried = task.metadata['slice'] === undefined && group[0] !== undefined;
    const text = isTried ? hintText(hint, { task, part: group[0]!, group }) : undefined;
    const plain = before.perTask[slot]!;
    // Another attempt must have solved the task: only what the first one did is independent of that.
    const own = { ...plain, n: 1, successes: group[0]?.success === true ? 1 : 0, failed: 0 };
    const same = hint.includes('{solution}') ? own : plain;
    return text === undefined ? [] : [{ same, task: { ...task, prompt: task.prompt + text } }];
  });
  const tasks = hinted.map(({ task }) => task);
  const made = await evaluateNow(at, 'hinted', tasks);
  if (made === undefined) return;
  const same = hinted.map((one) => one.same);
  const gain = compare(same, made.perTask, at.run.options.seed);
  if (gain !== undefined && gain.difference >= leastHintGain) {
    at.state = { ...at.state, before };
    return;
  }
  throw new AgentRlError(
    'HINT_WITHOUT_GAIN',
    gain === undefined
      ? `algorithm.distill.hint: no held-out task has what ${JSON.stringify(hint)} asks for. Use {answer}, {error}, {solution} (with eval.samples above 1, where another attempt is right) or a field of the tasks.`
      : `algorithm.distill.hint changes held-out success from ${rate(same)} to ${rate(made.perTask)} on ${gain.tasks} tasks (${pointsText(gain.difference)} points), less than algorithm.distill.leastHintGain (${leastHintGain}): a teacher that knows it would teach little. Use a hint that helps more, or set leastHintGain to 0.`,
  );
}

const rate = (tasks: readonly TaskAttempts[]): string =>
  percentText(sum(tasks.map((one) => one.successes)) / sum(tasks.map((one) => one.n)));

/** Evaluates the current weights; `undefined` if interrupted. */
export async function evaluateNow(
  at: GrpoStanding,
  when: EvaluationTime,
  given?: readonly Task[],
): Promise<Evaluation | undefined> {
  const { run, signal } = at;
  const { options, evalTasks, selectionTasks = [] } = run;
  const { iteration, optimizerSteps: step } = at.state;
  const tasks = given ?? (when === 'selection' ? selectionTasks : evalTasks);
  const { samples, temperature } = attemptsOf(options.eval);
  const episodes = tasks.length * samples;
  enter(at, { name: 'evaluate', when, episodes });
  const evaluation = await spanned({ track: 'trainer', name: `evaluation ${when}` }, () =>
    evaluate(run.rollouts, tasks, {
      samples,
      temperature,
      strategy: strategyOf(options.eval),
      seed: options.seed,
      step,
      key: { run: options.run, when, iteration },
      failures: options.rollout.failures,
      signal,
      onRollout: (rollout) => run.emit({ type: 'evaluation-rollout', rollout, episodes }),
      groupsOf: run.groupsOf,
    }),
  );
  // A partial evaluation would look complete.
  if (signal.aborted) return undefined;
  const toMetrics = when === 'selection' ? selectionMetrics : evaluationMetrics;
  // Trackers show `eval/*` of one evaluation only at an iteration.
  const metrics = when === 'hinted' ? {} : measured(toMetrics(evaluation));
  run.emit({ type: 'evaluation', when, iteration, metrics, evaluation });
  return evaluation;
}

/** The metrics of the evaluations after an iteration. */
export const metricsOf = (at: GrpoStanding, { during, selection }: Evaluations): Metrics => ({
  ...(during && evaluationMetrics(during, sinceBefore(at, during))),
  ...(selection && selectionMetrics(selection)),
});

/** The change since the baseline; empty without a baseline. */
export function sinceBefore(
  { run, state: { before } }: GrpoStanding,
  { perTask }: Evaluation,
): Comparison | undefined {
  return before === null ? undefined : compare(before.perTask ?? [], perTask, run.options.seed);
}
