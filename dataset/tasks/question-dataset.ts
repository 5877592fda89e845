import { basename, dirname } from 'node:path';

import { type Static, Type } from '../../agent_rl/core/typebox.ts';
import type { QuestionTask } from '../../agent_rl/core/tasks/question-task.ts';
import { labelText } from '../../agent_rl/core/tasks/decimal-text.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { tableName } from '../tables/row-unit.ts';
import type { TableReading } from '../tables/table-reading.ts';
import { readTasks, TaskDataset, type TaskFormat } from './read-tasks.ts';
import { anyMetadata, filled, rowCheck } from './row-schema.ts';

/** A value of one of some types, of which a problem names all. */
const oneOf = <Value>(type: readonly string[], rules: Readonly<Record<string, unknown>> = {}) =>
  Type.Optional(Type.Unsafe<Value>({ type, minLength: 1, ...rules }));

const QuestionRow = Type.Object({
  task_id: oneOf<string | number>(['string', 'integer']),
  question: filled,
  answer: oneOf<string | number | boolean>(['string', 'number', 'boolean']),
  aliases: oneOf<string | string[]>(['string', 'array'], { items: filled }),
  metadata: anyMetadata,
});

/** A question a row, of whatever it is about. */
export const questionFormat: TaskFormat<QuestionTask> = {
  needs:
    'question or prompt, and usually answer; if its columns have other names, set datasets[].columns',
  reader: (file) => {
    const check = rowCheck(QuestionRow, (row, line) => ({ row: taskOf(row, idOf(file, line)) }));
    return (row, line) => check(isRecord(row) ? asQuestion(filledCells(row)) : row, line);
  },
};

/** The questions of one file, in its order. */
export class QuestionDataset extends TaskDataset<QuestionTask> {
  /**
   * Reads `{question, answer?, aliases?, task_id?, metadata?, …}`, or the same with `prompt`, from JSONL, CSV, TSV, a JSON list or Parquet. Other
   * columns go into the task's metadata; without `task_id` a task is named after folder, file and line.
   *
   * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file, `file:line path: …`.
   */
  static async fromPath(file: string, reading: TableReading = {}): Promise<QuestionDataset> {
    const { tasks, places } = await readTasks(file, questionFormat, reading);
    return new QuestionDataset(file, tasks, places);
  }
}

/** The name of a task without one: its folder, file and line. */
export const idOf = (file: string, line: number): string =>
  `${basename(dirname(file))}-${tableName(file)}-${line}`;

/** A table has its empty cells in every row: they say nothing. */
const filledCells = (row: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(row).filter(([, cell]) => cell !== null && cell !== undefined && cell !== ''),
  );

type Row = Readonly<Record<string, unknown>>;

/** A row with `prompt` as one with `question`. All its other fields are also in its metadata, as in the plain format. */
function asQuestion(row: Row): Row {
  const { prompt, metadata = {}, ...fields } = row;
  if (prompt === undefined || 'question' in row) return row;
  const { task_id: _, ...others } = fields;
  return {
    ...fields,
    question: prompt,
    metadata: isRecord(metadata) ? { ...others, ...metadata } : metadata,
  };
}

function taskOf(
  { task_id, question, answer, aliases = [], metadata, ...others }: Static<typeof QuestionRow>,
  id: string,
): QuestionTask {
  return {
    taskId: task_id === undefined ? id : String(task_id),
    prompt: question,
    answer: answer === undefined ? undefined : labelText(answer),
    aliases: [aliases].flat(),
    metadata: { ...others, ...metadata },
  };
}
