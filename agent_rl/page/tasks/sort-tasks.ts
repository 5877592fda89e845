import { unreachable } from '../../core/unreachable.ts';
import type { TaskRow } from '../../runs/view/api.ts';

export type TaskColumn = 'taskId' | 'slice' | 'attempts' | 'rate' | 'change' | 'lastIteration';

export interface TaskSort {
  by: TaskColumn;
  isDown: boolean;
}

interface Tally {
  attempts: number;
  successes: number;
}

/** The share of attempts that solved the task; null without attempts. */
export const rateOf = ({ attempts, successes }: Tally): number | null =>
  attempts === 0 ? null : successes / attempts;

/** The rate at the last iteration minus the rate at the first; null for a task that only one iteration attempted. */
export function changeOf({ byIteration }: TaskRow): number | null {
  const [first, last] = [byIteration[0], byIteration.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  const [before, after] = [rateOf(first), rateOf(last)];
  return before === null || after === null ? null : after - before;
}

const valueOf = (task: TaskRow, by: TaskColumn): string | number | null => {
  switch (by) {
    case 'rate':
      return rateOf(task);
    case 'change':
      return changeOf(task);
    case 'taskId':
    case 'slice':
    case 'attempts':
    case 'lastIteration':
      return task[by];
    default:
      return unreachable(by);
  }
};

/** Tasks in the order of a column; tasks without a value there come last. */
export function sortTasks(tasks: readonly TaskRow[], { by, isDown }: TaskSort): readonly TaskRow[] {
  return tasks.toSorted((one, other) => {
    const [a, b] = [valueOf(one, by), valueOf(other, by)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const up =
      typeof a === 'string' && typeof b === 'string'
        ? a.localeCompare(b, 'en', { numeric: true })
        : Number(a) - Number(b);
    return isDown ? -up : up;
  });
}
