import { type Agent, openAgent } from '../../compose/open-agent.ts';
import { resolveRun, type ResolvedRun } from '../../compose/resolve-run.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { failureReporter } from '../../runs/failed-episodes.ts';
import { StallWatch } from '../../threads/stall-watch.ts';
import { withProgress } from '../../telemetry/index.ts';
import { evaluate, type Evaluation } from '../../trainer/evaluate.ts';
import { strategyOf } from '../../trainer/strategies/strategy-of.ts';
import type { Rollouts } from '../../rollout/rollout-worker.ts';
import { reportGroups } from '../../../dataset/tasks/task-sets.ts';
import type { JobContext, JobOptions } from '../job.ts';
import { measurePrompts } from '../train/ready/measure-prompts.ts';
import { leftOutText, withoutTooLong } from '../train/ready/too-long.ts';

export interface EvaluationOptions extends JobOptions {
  /** Run folder or checkpoint to evaluate instead of `model.path`. */
  checkpoint?: string | undefined;
  /** Name of the policy to use instead of the one at the top level. */
  policy?: string | undefined;
  /** Split to attempt instead of `dataset.evalSplit`. */
  split?: string;
}

/** What came of the tasks of a split with one model. */
export interface AttemptedTasks {
  run: ResolvedRun;
  split: string;
  result: Evaluation;
}

/** Opens the agent of a run file with one model, and attempts the tasks of a split. */
export async function attemptTasks(options: EvaluationOptions): Promise<AttemptedTasks> {
  const { print, signal } = options;
  const split = options.split ?? options.loaded.config.dataset.evalSplit;
  const tasks = { evaluation: split };
  const resolved = await resolveRun(options, { ...options, trains: false, tasks });
  const { workers, deadlines } = resolved.config.rollout;
  const agent = await openAgent(resolved, { workers, trains: false, signal });
  const watch = StallWatch.start({ limitS: deadlines.stallS, onStall: options.onStall });
  try {
    const run = await withoutSkipped(resolved, agent, options);
    for (const note of agent.notes) print(`Note: ${note}`);
    agent.model?.incidents.listen((text) => print(`Note: ${text}`));
    const result = await attemptAll(run, agent.rollouts, options);
    throwIfFailed(signal);
    return { run, split, result };
  } finally {
    await watch?.close();
    await agent.close();
  }
}

/** The run without the tasks that a training with its settings leaves out. */
async function withoutSkipped(
  resolved: ResolvedRun,
  agent: Agent,
  { print, signal }: JobContext,
): Promise<ResolvedRun> {
  if (resolved.config.dataset.tooLong === 'refuse') return resolved;
  const prompts = await measurePrompts(agent, resolved, signal);
  const { run, leftOut } = withoutTooLong(resolved, prompts);
  if (leftOut.length > 0) print(`Note: ${leftOutText(run.config, leftOut, 'first')}`);
  return run;
}

function attemptAll(
  { config, tasks, attempts: { samples, temperature } }: ResolvedRun,
  rollouts: Rollouts,
  { print, signal, quiet }: JobContext,
): Promise<Evaluation> {
  const total = tasks.evaluation.length * samples;
  const reportFailure = failureReporter(print);
  let done = 0;
  return withProgress({ label: 'eval', total, lineEvery: 50, quiet }, (bar) =>
    evaluate(rollouts, tasks.evaluation, {
      samples,
      temperature,
      strategy: strategyOf(config.eval),
      seed: config.run.seed,
      step: 0,
      signal,
      groupsOf: reportGroups,
      onRollout: (rollout) => {
        reportFailure(rollout);
        done += 1;
        bar.update(done);
      },
    }),
  );
}
