import { type Static, Type } from 'typebox';

import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { readTasks, type TaskDataset } from './read-tasks.ts';
import { anyMetadata, filled, rowCheck } from './row-schema.ts';

const PlainRow = Type.Object({ task_id: filled, prompt: filled, metadata: anyMetadata });

/**
 * Tasks of any environment, one JSON object a line: `task_id` and `prompt`, and whatever else the environment
 * needs, which becomes the task's `metadata`.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file.
 */
export const readPlainTasks = (file: string): Promise<TaskDataset> =>
  readTasks(file, { needs: 'task_id and prompt', reader: () => rowCheck(PlainRow, taskOf) });

function taskOf(row: Static<typeof PlainRow>): { row: Task } {
  const { task_id: taskId, prompt, metadata, ...fields } = row;
  return { row: { taskId, prompt, metadata: { ...fields, ...metadata } } };
}
