import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

import type { Config } from '../../agent_rl/config/index.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { ownOrShipped } from '../../agent_rl/core/package-root.ts';
import { isTable, tableEndings } from '../tables/read-table.ts';
import type { TableReading } from '../tables/table-reading.ts';
import { readTasks, type TaskDataset } from './read-tasks.ts';
import { taskFormat } from './task-formats.ts';

/**
 * The tasks of one file.
 *
 * @param reading how its columns become the fields of the format
 * @throws AgentRlError `CONFIG_INVALID` for an unknown format, `DATASET_INVALID`
 */
export const readTaskFile = async (
  file: string,
  format: string,
  reading: TableReading = {},
): Promise<TaskDataset> => readTasks(file, taskFormat(format), reading);

/** The file of a split in each of a config's folders. */
export const splitFiles = (datasets: Config['datasets'], split: string): string[] =>
  datasets.flatMap(({ dir }) => (dir === undefined ? [] : splitFile(dir, split)));

/**
 * The file of a split: relative to the working directory; what the package ships is found from anywhere. A split that is
 * named with an ending is that file; otherwise it is `<split>.jsonl` or, if that is missing, a table of another kind.
 */
export function splitFile(dir: string, split: string): string {
  const named = isTable(split);
  const files = named ? [split] : tableEndings.map((ending) => `${split}${ending}`);
  const found = files
    .map((file) => ownOrShipped(join(dir, file)))
    .filter(({ path }) => existsSync(path));
  const own = found.find(({ shipped }) => !shipped) ?? found[0];
  return own?.path ?? ownOrShipped(join(dir, files[0] ?? split)).path;
}

/** The file of a split. @throws AgentRlError `DATASET_INVALID` where there is no such folder, or no such file in it */
export function splitFileToRead(dir: string, split: string): string {
  const file = splitFile(dir, split);
  if (existsSync(file)) return file;
  const [folder, name] = [dirname(file), basename(file)];
  if (!existsSync(folder))
    throw new AgentRlError(
      'DATASET_INVALID',
      `The folder ${folder} does not exist; datasets sets it for ${name}. Create it, or choose another folder in datasets or with --dataset-dir.`,
    );
  const files = readdirSync(folder).filter(isTable);
  throw new AgentRlError(
    'DATASET_INVALID',
    `The folder ${folder} has no ${name}. Its splits: ${files.join(', ') || 'none'}. Set dataset.trainSplit or dataset.evalSplit to one of them, or choose another folder in datasets.`,
  );
}

/** Says which other files a split could be, a sentence each. */
export function otherSplitFiles(dir: string, split: string): string[] {
  const read = splitFile(dir, split);
  if (extname(split) !== '' && basename(read) === split) return [];
  const there = tableEndings.map((ending) => `${split}${ending}`);
  const others = there.filter(
    (file) => existsSync(join(dirname(read), file)) && file !== basename(read),
  );
  return others.map(
    (file) =>
      `${dirname(read)} holds ${basename(read)} and ${file}; the run reads ${basename(read)}. To read the other file, give its name with the ending, as in dataset.trainSplit: ${file}.`,
  );
}
