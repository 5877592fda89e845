import { join } from 'node:path';

import { type Static, Type } from 'typebox';

import type { Config } from '../../agent_rl/config/index.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { ownOrShipped } from '../../agent_rl/core/package-root.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { CodeTaskDataset, codeTaskFormats, oldCodeFormat } from './code-task-dataset.ts';
import { readJsonLines } from './json-lines.ts';
import { readTasks, type TaskDataset } from './read-tasks.ts';
import { anyMetadata, filled, rowCheck } from './row-schema.ts';
import { SearchTaskDataset } from './search-task-dataset.ts';

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

type ReadTasks = (file: string) => Promise<TaskDataset>;

const formats = new Map<string, ReadTasks>([
  ...([...codeTaskFormats, oldCodeFormat] as const).map((format): [string, ReadTasks] => [
    format,
    (file) => CodeTaskDataset.fromPath(file, { format }),
  ]),
  ['plain', readPlainTasks],
  ['mixed', readEither],
  ['search', (file) => SearchTaskDataset.fromPath(file)],
]);

/** A file of code tasks or of questions, whichever its first line is. */
async function readEither(file: string): Promise<TaskDataset> {
  for await (const line of readJsonLines(file)) {
    const isQuestion = 'value' in line && isRecord(line.value) && 'question' in line.value;
    return (isQuestion ? SearchTaskDataset : CodeTaskDataset).fromPath(file);
  }
  return CodeTaskDataset.fromPath(file);
}

/**
 * The tasks of one file.
 *
 * @throws AgentRlError `CONFIG_INVALID` for an unknown format, `DATASET_INVALID`
 */
export async function readTaskFile(file: string, format: string): Promise<TaskDataset> {
  const read = formats.get(format);
  if (read !== undefined) return read(file);
  const known = [...formats.keys()].filter((name) => name !== oldCodeFormat);
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The format ${showValue(format)} is not known (dataset.format, or --format of verify-dataset). Known: ${known.join(', ')}.`,
  );
}

/** The file of a split in each of a config's folders. */
export const splitFiles = (datasets: Config['datasets'], split: string): string[] =>
  datasets.map(({ dir }) => splitFile(dir, split));

/** The file of a split: relative to the working directory; what the package ships is found from anywhere. */
export function splitFile(dir: string, split: string): string {
  return ownOrShipped(join(dir, `${split}.jsonl`)).path;
}
