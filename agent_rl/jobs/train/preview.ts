import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Task } from '../../core/tasks/task.ts';
import { visibleControls } from '../../telemetry/index.ts';
import { warnIfFewer } from '../../../dataset/tasks/task-sets.ts';

/** Shows the first tasks that are trained on, and whether there are fewer than the config asks for. */
export function showPreview({ config, tasks }: ResolvedRun, print: (text: string) => void): void {
  print(previewText(tasks.train, config.run.previewTasks));
  warnIfFewer('dataset.maxSamples', config.dataset.maxSamples, tasks.train.length, print);
}

/** The first tasks of a split, indented. */
export function previewText(tasks: readonly Task[], count: number): string {
  const shown = tasks.slice(0, count).map(({ taskId, prompt }) => {
    const lines = visibleControls(prompt)
      .split('\n')
      .map((line) => `    ${line}`);
    return [`  ${visibleControls(taskId)}`, ...lines].join('\n');
  });
  return [`Tasks (${Math.min(count, tasks.length)} of ${tasks.length})`, ...shown].join('\n');
}
