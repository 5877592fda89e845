import { throwIfFailed } from '../../core/stray-failure.ts';
import { withProgress } from '../../telemetry/index.ts';
import { chooseTasks, evaluate } from '../../trainer/evaluate.ts';
import { openAgent } from '../../compose/agent.ts';
import { checkpointAt } from '../../runs/checkpoints.ts';
import { withoutAdapters } from '../../compose/new-adapter.ts';
import type { EvaluationOptions, JobResult } from '../job.ts';
import { rateText } from '../../runs/run-records.ts';
import { evaluationSummary } from '../../runs/summary.ts';
import { readTaskSets, reportGroups, sayIfFewer } from '../../../dataset/tasks/task-sets.ts';
import { choosePlugins } from '../../compose/plugins/choose-plugins.ts';

/** Attempts the tasks of a split with a checkpoint, or with the config's model. */
export async function runEvaluation(options: EvaluationOptions): Promise<JobResult> {
  const { loaded, plugins, print, signal, checkpoint } = options;
  const { config } = loaded;
  const { dataset, datasets, eval: evaluation, run } = config;
  const format = dataset.format ?? choosePlugins(loaded, plugins).environment.entry.spec.taskFormat;
  const split = options.split ?? dataset.evalSplit;
  const sets = await readTaskSets(datasets, {
    split,
    format,
    warn: (text) => print(`Note: ${text}`),
  });
  const all = sets.flatMap(({ tasks: one }) => one);
  sayIfFewer('eval.maxTasks', evaluation.maxTasks, all.length, print);
  const tasks = chooseTasks(all, evaluation.maxTasks, run.seed);
  const model = checkpoint === undefined ? undefined : checkpointAt(checkpoint, print);
  const agent = await openAgent({
    loaded: model === undefined ? loaded : withoutAdapters(loaded),
    plugins,
    signal,
    model,
    tasks,
  });
  try {
    for (const note of agent.policy.notes ?? []) print(`Note: ${note}`);
    const { samples, temperature } = evaluation;
    const total = tasks.length * samples;
    let done = 0;
    const result = await withProgress({ label: 'eval', total }, (bar) =>
      evaluate(agent.rollouts, tasks, {
        samples,
        temperature,
        seed: run.seed,
        step: 0,
        signal,
        groupsOf: reportGroups,
        onEpisode: () => {
          done += 1;
          if (done % 50 === 0 || done === total) bar.update(done);
        },
      }),
    );
    throwIfFailed(signal);
    const adapters = model === undefined ? config.model.adapters : [];
    print(
      `${[agent.modelFolder, ...adapters].join(' with ')} on ${split} (temperature ${temperature}, ${samples} attempts a task)`,
    );
    if (signal.aborted) print('  Interrupted: what follows is of the attempts made so far.');
    print(`  total (slices left out): ${rateText(result)}`);
    for (const [name, rate] of Object.entries(result.groups)) print(`  ${name}: ${rateText(rate)}`);
    for (const [name, mean] of Object.entries(result.environment)) {
      print(`  ${name}: ${mean.toFixed(3)} on average`);
    }
    const passes = Object.entries(result.passAtK).filter(() => samples > 1);
    for (const [k, rate] of passes) print(`  pass@${k}: ${(100 * rate).toFixed(1)} %`);
    if (result.systemFailures > 0)
      print(`  not judged, the system failed: ${result.systemFailures}`);
    return {
      model: agent.modelFolder,
      ...(adapters.length > 0 && { adapters }),
      split,
      tasks: tasks.length,
      interrupted: signal.aborted,
      ...evaluationSummary(result),
    };
  } finally {
    await agent.close();
  }
}
