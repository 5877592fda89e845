import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import { showValue } from '../../core/show-value.ts';
import { rowUnit } from '../../../dataset/tables/row-unit.ts';
import { readRows } from '../../../dataset/tasks/read-rows.ts';
import { writeFileAtomic } from '../../telemetry/atomic-write.ts';
import { countText } from '../../telemetry/figures.ts';

/** Rows of tasks in the form that the environment reads, such as `{ question, answer }`. Read to the end before the run. */
export type TaskRows<Row extends object = object> = Iterable<Row> | AsyncIterable<Row>;

export interface TrainingTasks {
  /** Folder of all runs. */
  outputDir: string;
  tasks: TaskRows | string;
  /** Held-out tasks; without them some of `tasks` are held out. */
  evalTasks: TaskRows | string | undefined;
  seed: number;
}

export interface TaskFolder {
  /** Absolute. */
  dir: string;
  /** What the user must be told. */
  notes: readonly string[];
}

const heldOutShare = 0.1;
const leastHeldOut = 1;

/**
 * Writes the tasks of a program to a folder that is named by their content, as `train.jsonl` and `eval.jsonl`, so that a
 * run made of code is a run like any other: its tasks are hashed, held to on resume, and there to be read.
 *
 * @throws AgentRlError `DATASET_INVALID` for rows that are no objects, or too few
 */
export async function writeTrainingTasks(options: TrainingTasks): Promise<TaskFolder> {
  const { outputDir, seed, tasks, evalTasks } = options;
  const all = await rowsOf(tasks, 'tasks');
  if (evalTasks === undefined) {
    const { train, heldOut, notes } = holdOut(all, seed);
    return { dir: writeFolder(outputDir, { train, eval: heldOut }), notes };
  }
  const heldOut = await rowsOf(evalTasks, 'evalTasks');
  return { dir: writeFolder(outputDir, { train: all, eval: heldOut }), notes: [] };
}

/**
 * Writes tasks that are only attempted. @returns their folder, whose `eval.jsonl` they are
 *
 * @throws AgentRlError `DATASET_INVALID` for rows that are no objects, or none
 */
export const writeEvaluationTasks = async (
  outputDir: string,
  tasks: TaskRows | string,
): Promise<string> => writeFolder(outputDir, { eval: await rowsOf(tasks, 'tasks') });

function writeFolder(
  outputDir: string,
  splits: Readonly<Record<string, readonly WrittenRow[]>>,
): string {
  const files = Object.entries(splits).map(([split, rows]) => [split, linesOf(rows)] as const);
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex');
  const dir = resolve(outputDir, `tasks-${hash.slice(0, 12)}`);
  for (const [split, text] of files) {
    const file = join(dir, `${split}.jsonl`);
    // The name of the folder says what is in it.
    if (!existsSync(file)) writeFileAtomic(file, text);
  }
  return dir;
}

type WrittenRow = Readonly<Record<string, unknown>>;

async function rowsOf(given: TaskRows | string, name: string): Promise<WrittenRow[]> {
  const rows = typeof given === 'string' ? await rowsOfFile(given) : given;
  const read: WrittenRow[] = [];
  for await (const row of rows) {
    if (!isRecord(row))
      throw new AgentRlError(
        'DATASET_INVALID',
        `${name}: row ${read.length + 1} is ${showValue(row, 60)}. Expected an object such as { question, answer }.`,
      );
    read.push(withId(row, `${name}-${read.length + 1}`));
  }
  if (read.length === 0) throw new AgentRlError('DATASET_INVALID', `${name} contains no tasks.`);
  return read;
}

/** The rows of a file: JSONL, CSV, TSV, a JSON list or Parquet, by its ending. */
const rowsOfFile = (file: string): Promise<object[]> =>
  readRows(resolve(file), {
    name: 'tasks',
    remedy: `Each ${rowUnit(file)} must be a task such as {"question": …, "answer": …}.`,
    reader: () => (row) => ({ row: row as object }),
  });

/** A row under the names of task files. */
function withId({ taskId, ...row }: WrittenRow, otherwise: string): WrittenRow {
  return { task_id: taskId ?? otherwise, ...row };
}

function holdOut(rows: readonly WrittenRow[], seed: number) {
  const count = Math.max(leastHeldOut, Math.floor(rows.length * heldOutShare));
  if (rows.length <= count)
    throw new AgentRlError(
      'DATASET_INVALID',
      `tasks has ${countText(rows.length, 'row')}, too few to hold some out for evaluation. Give more tasks, or give evalTasks.`,
    );
  const places = new KeyedRng(seed, 'held-out').shuffle([...rows.keys()]);
  const out = new Set(places.slice(0, count));
  return {
    train: rows.filter((_, place) => !out.has(place)),
    heldOut: rows.filter((_, place) => out.has(place)),
    notes: [
      `evalTasks was not given: ${count} of ${rows.length} tasks, chosen by the seed, are held out for evaluation.`,
    ],
  };
}

const linesOf = (rows: readonly WrittenRow[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
