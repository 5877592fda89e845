import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';
import type { Task } from '../core/task.ts';
import { CodeTaskDataset } from '../../dataset/code-task-dataset.ts';
import { readPlainTasks } from '../../dataset/plain-task-dataset.ts';

type ReadTasks = (file: string) => Promise<readonly Task[]>;

/** How a line of a task file is read, by the format's name. */
const formats: Readonly<Record<string, ReadTasks>> = {
  code: async (file) => (await CodeTaskDataset.fromPath(file)).tasks,
  mbpp: async (file) => (await CodeTaskDataset.fromPath(file, { format: 'mbpp' })).tasks,
  plain: readPlainTasks,
};

export interface TaskFile {
  readonly dir: string;
  readonly split: string;
  readonly format: string;
}

/**
 * The tasks of one split, `<dir>/<split>.jsonl`.
 *
 * @throws AgentRlError `CONFIG_INVALID` for an unknown format, `DATASET_INVALID`
 */
export async function readTaskFile({ dir, split, format }: TaskFile): Promise<readonly Task[]> {
  const read = formats[format];
  if (read === undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `dataset.format "${format}" is not known. Known: ${Object.keys(formats).join(', ')}.`,
    );
  }
  return read(splitFile(dir, split));
}

/** Relative to the working directory; what the package ships is found from anywhere. */
function splitFile(dir: string, split: string): string {
  const own = join(resolve(dir), `${split}.jsonl`);
  const shipped = join(packageRoot(), dir, `${split}.jsonl`);
  return !existsSync(own) && existsSync(shipped) ? shipped : own;
}
