import { showValue } from '../../agent_rl/core/show-value.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { type DatasetProblem } from './dataset-problem.ts';
import { readTasks, type RowFormat, type RowReading, type TaskDataset } from './read-tasks.ts';

const plainFormat: RowFormat = { needs: 'task_id and prompt', reader: () => readRow };

/**
 * Tasks of any environment, one JSON object a line: `task_id` and `prompt`, and whatever else the environment
 * needs, which becomes the task's `metadata`.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file.
 */
export const readPlainTasks = (file: string): Promise<TaskDataset> => readTasks(file, plainFormat);

function readRow(row: unknown, line: number): RowReading {
  const problems: DatasetProblem[] = [];
  const wrong = (path: string, seen: unknown, expected: string): void => {
    const value = showValue(seen);
    problems.push({ line, path, text: `is ${value}; expected ${expected}.`, value });
  };
  if (!isRecord(row)) {
    wrong('', row, 'an object');
    return { problems };
  }
  const { task_id: taskId, prompt, metadata = {}, ...fields } = row;
  if (typeof taskId !== 'string' || taskId === '') wrong('task_id', taskId, 'text');
  if (typeof prompt !== 'string' || prompt === '') wrong('prompt', prompt, 'text');
  if (!isRecord(metadata)) wrong('metadata', metadata, 'an object, or none');
  if (problems.length > 0) return { problems };
  const ids = { taskId: String(taskId), prompt: String(prompt) };
  return { task: { ...ids, metadata: { ...fields, ...(metadata as object) } } };
}
