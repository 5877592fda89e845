import path from 'node:path';

import { showValue } from '../../agent_rl/core/show-value.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { type DatasetProblem, datasetError } from './dataset-problem.ts';
import { readJsonLines } from './json-lines.ts';

/** A row as a task, or everything that is wrong with it. */
export type RowReading<Row extends Task = Task> =
  { task: Row } | { problems: readonly DatasetProblem[] };

/** Reads a parsed line; made once per file. */
export type RowReader<Row extends Task = Task> = (row: unknown, line: number) => RowReading<Row>;

/** A format of task files. */
export interface RowFormat<Row extends Task = Task> {
  /** What every row has, for someone whose file has another shape. */
  needs: string;
  reader: () => RowReader<Row>;
}

/** The tasks of one file, in its order. */
export class TaskDataset<Row extends Task = Task> implements Iterable<Row> {
  readonly #byId: ReadonlyMap<string, Row>;

  constructor(
    readonly file: string,
    readonly tasks: readonly Row[],
    /** Fields by names they no longer have. */
    readonly warnings: readonly string[] = [],
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
 * Reads a JSONL file of tasks.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file, `file:line path: …`.
 */
export async function readTasks<Row extends Task>(
  file: string,
  { needs, reader }: RowFormat<Row>,
): Promise<TaskDataset<Row>> {
  const read = reader();
  const problems: DatasetProblem[] = [];
  const tasks: Row[] = [];
  const lineOf = new Map<string, number>();
  let rows = 0;
  let renamed = 0;
  for await (const row of readJsonLines(file)) {
    rows += 1;
    const reading = 'problem' in row ? { problems: [row.problem] } : read(row.value, row.line);
    if ('problems' in reading) {
      problems.push(...reading.problems);
      continue;
    }
    const { taskId } = reading.task;
    const first = lineOf.get(taskId);
    if (first === undefined) lineOf.set(taskId, row.line);
    else problems.push(duplicate(taskId, first, row.line));
    const task = withSlice(reading.task);
    if (task !== reading.task) renamed += 1;
    tasks.push(task);
  }
  if (problems.length > 0) throw datasetError(file, problems, { rows, remedy: remedyOf(needs) });
  if (tasks.length === 0) {
    const text = 'the file holds no tasks; expected one a line.';
    throw datasetError(file, [{ line: 1, path: '', text }]);
  }
  return new TaskDataset(file, tasks, renamed === 0 ? [] : [oldSlice(file, renamed)]);
}

function duplicate(taskId: string, first: number, line: number): DatasetProblem {
  const value = showValue(taskId);
  const text = `${value} is already the task of line ${first}; every task_id must be unique.`;
  return { line, path: 'task_id', text, value };
}

const remedyOf = (needs: string): string =>
  `In this format each line has ${needs}. If the file is in another one, name that (dataset.format, or --format of verify-dataset), or convert it with agent-rl prepare-data.`;

/** The task with the name that its `metadata.slice` had in version 0.1, `metadata.apart`, replaced. */
function withSlice<Row extends Task>(task: Row): Row {
  const { apart, ...metadata } = task.metadata;
  if (typeof apart !== 'string' || 'slice' in metadata) return task;
  return { ...task, metadata: { ...metadata, slice: apart } };
}

const oldSlice = (file: string, count: number): string =>
  `${file}: metadata.apart of ${count} tasks is now metadata.slice. The old name is accepted until version 0.3.`;

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
