import { openAgent } from '../../compose/open-agent.ts';
import { resolveRun, type ResolvedRun } from '../../compose/resolve-run.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { failedText, failureReporter } from '../../runs/failed-episodes.ts';
import {
  atKTable,
  intervalNote,
  rateText,
  strategyText,
  worstCaseText,
} from '../../runs/evaluation-table.ts';
import { evaluationSummary } from '../../runs/summary.ts';
import { StallWatch } from '../../threads/stall-watch.ts';
import { attemptsOf } from '../../config/index.ts';
import { withProgress } from '../../telemetry/index.ts';
import { evaluate as attempt, type Evaluation } from '../../trainer/evaluate.ts';
import { strategyOf } from '../../trainer/strategies/strategy-of.ts';
import type { Rollouts } from '../../rollout/rollout-worker.ts';
import { reportGroups } from '../../../dataset/tasks/task-sets.ts';
import type { JobContext, JobOptions, JobResult } from '../job.ts';

export interface EvaluationOptions extends JobOptions {
  /** Run folder or checkpoint to evaluate instead of `model.path`. */
  checkpoint?: string;
  /** Split to attempt instead of `dataset.evalSplit`. */
  split?: string;
}

/** Attempts the tasks of a split with a checkpoint, or with the config's model. */
export async function evaluate(options: EvaluationOptions): Promise<JobResult> {
  const { print, signal, checkpoint } = options;
  const split = options.split ?? options.loaded.config.dataset.evalSplit;
  const tasks = { evaluation: split };
  const run = await resolveRun(options, { ...options, trains: false, tasks });
  const { workers } = run.config.rollout;
  const agent = await openAgent(run, { workers, trains: false, signal });
  const { stallS: limitS } = run.config.rollout.deadlines;
  const watch = StallWatch.start({ limitS });
  try {
    for (const note of agent.notes) print(`Note: ${note}`);
    agent.model?.incidents.listen((text) => print(`Note: ${text}`));
    const result = await attemptAll(run, agent.rollouts, options);
    throwIfFailed(signal);
    const adapters = checkpoint === undefined ? run.config.model.adapters : [];
    showResult(result, { run, split, adapters, print, signal });
    return {
      model: run.model.folder,
      ...(adapters.length > 0 && { adapters }),
      split,
      strategy: run.config.eval.strategy,
      tasks: run.tasks.evaluation.length,
      interrupted: signal.aborted,
      ...evaluationSummary(result),
    };
  } finally {
    await watch?.close();
    await agent.close();
  }
}

function attemptAll(
  { config, tasks }: ResolvedRun,
  rollouts: Rollouts,
  { print, signal, quiet }: JobContext,
): Promise<Evaluation> {
  const { samples, temperature } = attemptsOf(config.eval);
  const total = tasks.evaluation.length * samples;
  const reportFailure = failureReporter(print);
  let done = 0;
  return withProgress({ label: 'eval', total, lineEvery: 50, quiet }, (bar) =>
    attempt(rollouts, tasks.evaluation, {
      samples,
      temperature,
      strategy: strategyOf(config.eval),
      seed: config.run.seed,
      step: 0,
      signal,
      groupsOf: reportGroups,
      onEpisode: (episode) => {
        for (const trajectory of episode) reportFailure(trajectory);
        done += 1;
        bar.update(done);
      },
    }),
  );
}

interface Shown extends JobContext {
  run: ResolvedRun;
  split: string;
  adapters: readonly string[];
}

function showChosen({ chosen }: Evaluation, print: Shown['print']): void {
  if (chosen === undefined) return;
  print(`  ${strategyText(chosen)}: ${rateText(chosen)}`);
  for (const [name, rate] of Object.entries(chosen.groups))
    print(`  ${strategyText(chosen)}, ${name}: ${rateText(rate)}`);
  if (chosen.undecided > 0)
    print(
      `  ${chosen.undecided} tasks without ${chosen.strategy === 'majority' ? 'an answer' : 'a rating'}: the likelier attempt was taken`,
    );
}

function showResult(result: Evaluation, { run, split, adapters, print, signal }: Shown): void {
  const { samples, temperature } = attemptsOf(run.config.eval);
  print(
    `${[run.model.folder, ...adapters].join(' with ')} on ${split} (temperature ${temperature}, attempts per task: ${samples})`,
  );
  if (signal.aborted) print('  Interrupted: what follows covers the attempts made so far.');
  print(`  total (slices left out): ${rateText(result)}`);
  if (result.failed)
    print(
      `  total if those that failed had failed their task, or solved it: ${worstCaseText(result)}`,
    );
  for (const [name, rate] of Object.entries(result.groups)) print(`  ${name}: ${rateText(rate)}`);
  showChosen(result, print);
  print(`  ${intervalNote}`);
  for (const [name, mean] of Object.entries(result.environment)) {
    print(`  ${name}: ${mean.toFixed(3)} on average`);
  }
  for (const line of atKTable(result)) print(line);
  const attempts = result.trajectories;
  const failed = failedText(
    signal.aborted ? attempts.filter(({ outcome }) => outcome !== 'aborted') : attempts,
  );
  if (failed !== undefined) print(failed);
}
