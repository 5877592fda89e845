import { openAgent } from '../../../agent_rl/compose/open-agent.ts';
import { resolveRun } from '../../../agent_rl/compose/resolve-run.ts';
import { attemptsOf } from '../../../agent_rl/config/index.ts';
import { throwIfFailed } from '../../../agent_rl/core/stopping/stray-failure.ts';
import { failureReporter } from '../../../agent_rl/runs/failed-episodes.ts';
import { evaluationSummary } from '../../../agent_rl/runs/summary.ts';
import { evaluate } from '../../../agent_rl/trainer/evaluate.ts';
import { strategyOf } from '../../../agent_rl/trainer/strategies/strategy-of.ts';
import type { TaskAttempts } from '../../../agent_rl/trainer/success-rate.ts';
import { reportGroups } from '../../../dataset/tasks/task-sets.ts';
import { countsOf, type TaskCounts } from './counts.ts';
import { prepareEvaluated, type SeedOptions } from './seed.ts';

/** An evaluation as it is kept, with its tasks in order. */
export type Evaluated = ReturnType<typeof evaluationSummary> & {
  perTask: readonly TaskAttempts[];
  counts: readonly TaskCounts[];
};

/** Attempts all tasks of the evaluation, slices included, with a run's newest checkpoint or with the config's model. */
export async function evaluated(
  options: SeedOptions,
  settings: Readonly<Record<string, unknown>>,
  checkpoint?: string,
): Promise<Evaluated> {
  const { seed, signal, print } = options;
  const prepared = await prepareEvaluated(options, settings);
  const run = await resolveRun(prepared, {
    signal,
    print,
    checkpoint,
    trains: false,
    tasks: { evaluation: prepared.loaded.config.dataset.evalSplit },
  });
  const { config } = run;
  const agent = await openAgent(run, { workers: config.rollout.workers, trains: false, signal });
  const report = failureReporter(print);
  try {
    const result = await evaluate(agent.rollouts, run.tasks.evaluation, {
      ...attemptsOf(config.eval),
      strategy: strategyOf(config.eval),
      seed,
      step: 0,
      signal,
      groupsOf: reportGroups,
      onRollout: report,
    });
    throwIfFailed(signal);
    const { perTask, rollouts } = result;
    const counts = countsOf(perTask, rollouts, run.tasks.evaluation);
    return { ...evaluationSummary(result), perTask, counts };
  } finally {
    await agent.close();
  }
}
