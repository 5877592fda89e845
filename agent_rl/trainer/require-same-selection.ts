import { AgentRlError } from '../core/errors.ts';
import type { Task } from '../core/tasks/task.ts';
import type { TrainerState } from './trainer-contracts.ts';

/** @throws AgentRlError `CHECKPOINT_INVALID` where another number of tasks was kept out of training */
export function requireSameSelection(
  { selectionTasks: before }: Pick<TrainerState, 'selectionTasks'>,
  { length: now }: readonly Task[] = [],
): void {
  if (before === now) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run keeps ${before} tasks out of training to choose its best checkpoint by, and would now keep ${now}. Leave checkpoint.keepBest and eval.selectionTasks as they were.`,
  );
}
