import path from 'node:path';

import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { placeIn } from './dataset-problem.ts';
import { rowUnit } from '../tables/row-unit.ts';
import type { TableReading } from '../tables/table-reading.ts';
import { readRows, type RowReader } from './read-rows.ts';

/** A format of task files. */
export interface TaskFormat<Row extends Task = Task> {
  /** Makes the reader of one file. */
  reader: (file: string) => RowReader<Row>;
  /** What every row has, for someone whose file has another shape. */
  needs: string;
}

/** The tasks of one file, in its order. */
export class TaskDataset<Row extends Task = Task> implements Iterable<Row> {
  readonly #byId: ReadonlyMap<string, Row>;

  constructor(
    readonly file: string,
    readonly tasks: readonly Row[],
    /** Where each task is in the file, as `file:line`, by its id. */
    readonly places: ReadonlyMap<string, string> = new Map(),
  ) {
    this.#byId = new Map(tasks.map((task) => [task.taskId, task]));
  }

  get size(): number {
    return this.tasks.length;
  }

  /** The task of this id, if the file has it. */
  get(taskId: string): Row | undefined {
    return this.#byId.get(taskId);
  }

  [Symbol.iterator](): Iterator<Row> {
    return this.tasks[Symbol.iterator]();
  }
}

/**
 * Reads a file of tasks: JSONL, CSV, TSV, a JSON list or Parquet, by its ending.
 *
 * @param reading how columns become the fields of the format
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file, `file:line path: …`.
 */
export async function readTasks<Row extends Task>(
  file: string,
  { needs, reader }: TaskFormat<Row>,
  reading: TableReading = {},
): Promise<TaskDataset<Row>> {
  const places = new Map<string, string>();
  const tasks = await readRows(file, {
    name: 'tasks',
    remedy: `In this format each ${rowUnit(file)} has ${needs}. If the file has another format, name that format (datasets[].format, or --format of data verify), or convert the file with agent-rl data prepare.`,
    reader: () => {
      const readRow = reader(file);
      return (value, line) => {
        const made = readRow(value, line);
        if ('row' in made) places.set(made.row.taskId, placeIn(file, line));
        return made;
      };
    },
    reading,
    unique: { path: 'task_id', of: ({ taskId }) => taskId },
  });
  return new TaskDataset(file, tasks, places);
}

/** The training tasks and the held-out tasks of a folder. */
export interface TaskSplits<Dataset> {
  train: Dataset;
  eval: Dataset;
}

/** Reads `<folder>/<split>.jsonl` of both splits. */
export async function readSplits<Dataset>(
  folder: string,
  { train = 'train', eval: evaluation = 'eval' }: { train?: string; eval?: string },
  read: (file: string) => Promise<Dataset>,
): Promise<TaskSplits<Dataset>> {
  const [trained, heldOut] = await Promise.all(
    [train, evaluation].map((split) => read(path.join(folder, `${split}.jsonl`))),
  );
  return { train: trained!, eval: heldOut! };
}
