import { join } from 'node:path';

import type { Config } from '../../agent_rl/config/index.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { ownOrShipped } from '../../agent_rl/core/package-root.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { CodeTaskDataset, type CodeTaskFormat } from './code-task-dataset.ts';
import { readJsonLines } from './json-lines.ts';
import { readPlainTasks } from './plain-task-dataset.ts';
import type { TaskDataset } from './read-tasks.ts';
import { SearchTaskDataset } from './search-task-dataset.ts';

type ReadTasks = (file: string) => Promise<TaskDataset>;

const codeTasks =
  (format: CodeTaskFormat): ReadTasks =>
  (file) =>
    CodeTaskDataset.fromPath(file, { format });

/** How a line of a task file is read, by the format's name. */
const formats = new Map<string, ReadTasks>([
  ['code', codeTasks('agent_rl')],
  ['humaneval', codeTasks('humaneval')],
  ['mbpp', codeTasks('mbpp')],
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
export async function readTaskFile({ dir, split, format }: TaskFile): Promise<TaskDataset> {
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
