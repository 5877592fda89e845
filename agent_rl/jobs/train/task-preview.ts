import type { Task } from '../../core/tasks/task.ts';
import { visibleControls } from '../../telemetry/index.ts';

/** The first tasks of a split, indented, so that the user sees what is trained on. */
export function previewText(tasks: readonly Task[], count: number): string {
  const shown = tasks.slice(0, count).map(({ taskId, prompt }) => {
    const lines = visibleControls(prompt)
      .split('\n')
      .map((line) => `    ${line}`);
    return [`  ${visibleControls(taskId)}`, ...lines].join('\n');
  });
  return [`Tasks (${Math.min(count, tasks.length)} of ${tasks.length})`, ...shown].join('\n');
}
