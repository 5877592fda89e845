import type { Task } from '../../agent_rl/core/tasks/task.ts';

import { type DatasetProblem, datasetError, shownValue } from './dataset-problem.ts';
import { readJsonLines } from './json-lines.ts';

type Row = Readonly<Record<string, unknown>>;

const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Tasks of any environment, one JSON object a line: `task_id` and `prompt`, and whatever else the environment
 * needs, which becomes the task's `metadata`.
 *
 * @throws AgentRlError `DATASET_INVALID`, every problem of every line at once.
 */
export async function readPlainTasks(file: string): Promise<readonly Task[]> {
  const problems: DatasetProblem[] = [];
  const tasks: Task[] = [];
  const seen = new Map<string, number>();
  for await (const row of readJsonLines(file)) {
    if ('problem' in row) problems.push(row.problem);
    else tasks.push(...taskOf(row.value, row.line, { problems, seen }));
  }
  if (problems.length === 0 && tasks.length === 0) {
    problems.push({ line: 1, path: '', text: 'the file holds no tasks; expected one a line.' });
  }
  if (problems.length > 0) throw datasetError(file, problems);
  return tasks;
}

interface Reading {
  problems: DatasetProblem[];
  seen: Map<string, number>;
}

function taskOf(value: unknown, line: number, { problems, seen }: Reading): Task[] {
  if (!isRow(value)) {
    problems.push({ line, path: '', text: `is ${shownValue(value)}; expected an object.` });
    return [];
  }
  const { task_id: taskId, prompt, ...rest } = value;
  for (const [path, field] of Object.entries({ task_id: taskId, prompt })) {
    if (typeof field === 'string' && field !== '') continue;
    problems.push({ line, path, text: `is ${shownValue(field)}; expected text.` });
  }
  if (typeof taskId !== 'string' || typeof prompt !== 'string') return [];
  const first = seen.get(taskId);
  if (first === undefined) seen.set(taskId, line);
  else
    problems.push({
      line,
      path: 'task_id',
      text: `${shownValue(taskId)} is already the task of line ${first}.`,
    });
  const { metadata = {}, ...fields } = rest;
  if (!isRow(metadata)) {
    const text = `is ${shownValue(metadata)}; expected an object, or none.`;
    problems.push({ line, path: 'metadata', text });
    return [];
  }
  return [{ taskId, prompt, metadata: { ...fields, ...metadata } }];
}
