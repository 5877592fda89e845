import { type ResolvedRun, resolveRun } from '../../compose/resolve-run.ts';
import type { Task } from '../../core/tasks/task.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { warnIfFewer } from '../../../dataset/tasks/task-sets.ts';
import type { JobResult, TrainingOptions } from '../job.ts';
import { openReady } from './ready/ready-agent.ts';
import { runSession } from './session.ts';
import { refuseIdleFlags } from './trainer-options.ts';
import { GrpoTraining } from './training.ts';

/**
 * Trains an agent by reinforcement learning: preview, plan, baseline, training, evaluation, table.
 *
 * @returns what `summary.json` holds, and where the run lies.
 * @throws AgentRlError for what the user can fix, before anything is written wherever possible.
 */
export async function train(options: TrainingOptions): Promise<JobResult> {
  refuseIdleFlags(options);
  const { trainSplit, evalSplit } = options.loaded.config.dataset;
  const tasks = { train: trainSplit, evaluation: evalSplit };
  const run = await resolveRun(options, { ...options, trains: true, tasks });
  preview(run, options);
  return runSession(run, options, async ({ opened, beginning }) => {
    const ready = await openReady(run, options, opened, beginning.checkpoint);
    return new GrpoTraining(ready, options);
  });
}

function preview({ config, tasks }: ResolvedRun, { quiet, print }: TrainingOptions): void {
  const endless = tasks.sets.some((set) => set.endless !== undefined);
  const all = endless ? 'an endless set' : tasks.train.length;
  if (quiet !== true) print(previewText(tasks.train, config.run.previewTasks, all));
  const left = tasks.train.length - (config.checkpoint.keepBest ? config.eval.selectionTasks : 0);
  // A generator makes as many as are drawn.
  if (!endless) warnIfFewer('dataset.maxSamples', config.dataset.maxSamples, left, print);
}

/**
 * The first tasks of a split, indented.
 *
 * @param all how many there are
 */
export function previewText(
  tasks: readonly Task[],
  count: number,
  all: number | string = tasks.length,
): string {
  const shown = tasks.slice(0, count).map(({ taskId, prompt }) => {
    const lines = visibleControls(prompt)
      .split('\n')
      .map((line) => `    ${line}`);
    return [`  ${visibleControls(taskId)}`, ...lines].join('\n');
  });
  return [`Tasks (${Math.min(count, tasks.length)} of ${all})`, ...shown].join('\n');
}
