import { join } from 'node:path';

import type { Config } from '../../agent_rl/config/index.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { ownOrShipped } from '../../agent_rl/core/package-root.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { CodeTaskDataset, type CodeTaskFormat } from './code-task-dataset.ts';
import { readJsonLines } from './json-lines.ts';
import { readPlainTasks } from './plain-task-dataset.ts';
import { SearchTaskDataset } from './search-task-dataset.ts';

type ReadTasks = (file: string) => Promise<readonly Task[]>;

const codeTasks =
  (format: CodeTaskFormat): ReadTasks =>
  async (file) =>
    (await CodeTaskDataset.fromPath(file, { format })).tasks;

/** How a line of a task file is read, by the format's name. */
const formats: ReadonlyMap<string, ReadTasks> = new Map([
  ['code', codeTasks('agent_rl')],
  ['humaneval', codeTasks('humaneval')],
  ['mbpp', codeTasks('mbpp')],
  ['plain', readPlainTasks],
  ['mixed', readEither],
  ['search', async (file: string) => (await SearchTaskDataset.fromPath(file)).tasks],
]);

/** A file of code tasks or of questions, whichever its first line is. */
async function readEither(file: string): Promise<readonly Task[]> {
  for await (const line of readJsonLines(file)) {
    const isQuestion =
      'value' in line &&
      typeof line.value === 'object' &&
      line.value !== null &&
      'question' in line.value;
    return (isQuestion ? SearchTaskDataset : CodeTaskDataset)
      .fromPath(file)
      .then(({ tasks }) => tasks);
  }
  return (await CodeTaskDataset.fromPath(file)).tasks;
}

export interface TaskFile {
  dir: string;
  split: string;
  format: string;
}

/**
 * The tasks of one split, `<dir>/<split>.jsonl`.
 *
 * @throws AgentRlError `CONFIG_INVALID` for an unknown format, `DATASET_INVALID`
 */
export async function readTaskFile({ dir, split, format }: TaskFile): Promise<readonly Task[]> {
  const read = formats.get(format);
  if (read === undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `dataset.format "${format}" is not known. Known: ${[...formats.keys()].join(', ')}.`,
    );
  }
  return read(splitFile(dir, split));
}

/** The file of a split in each of a config's folders. */
export const splitFiles = (datasets: Config['datasets'], split: string): string[] =>
  datasets.map(({ dir }) => splitFile(dir, split));

/** The file of a split: relative to the working directory; what the package ships is found from anywhere. */
export function splitFile(dir: string, split: string): string {
  return ownOrShipped(join(dir, `${split}.jsonl`)).path;
}
