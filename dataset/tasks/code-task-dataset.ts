import path from 'node:path';

import type { CodeTask } from '../../agent_rl/core/tasks/code-task.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';

import { type DatasetProblem, datasetError, shownValue } from './dataset-problem.ts';
import { readJsonLines } from './json-lines.ts';
import { humanEvalRowReader } from './human-eval-row.ts';
import { mbppRowReader } from './mbpp/mbpp-row.ts';
import { type RowReader, taskRowReader } from './task-row.ts';

/** Formats a task file may have: our own, HumanEval's or MBPP's. */
export const codeTaskFormats = ['agent_rl', 'humaneval', 'mbpp'] as const;

export type CodeTaskFormat = (typeof codeTaskFormats)[number];

export const isCodeTaskFormat = (format: string): format is CodeTaskFormat =>
  (codeTaskFormats as readonly string[]).includes(format);

const readers: Readonly<Record<CodeTaskFormat, () => RowReader>> = {
  agent_rl: taskRowReader,
  humaneval: humanEvalRowReader,
  mbpp: mbppRowReader,
};

function readerOf(format: string): RowReader {
  if (isCodeTaskFormat(format)) return readers[format]();
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The format ${shownValue(format)} is not known. Known: ${codeTaskFormats.join(', ')}.`,
  );
}

/** The tasks of one file, in its order. */
export class CodeTaskDataset implements Iterable<CodeTask> {
  readonly #byId: ReadonlyMap<string, CodeTask>;

  private constructor(
    readonly file: string,
    readonly tasks: readonly CodeTask[],
  ) {
    this.#byId = new Map(tasks.map((task) => [task.taskId, task]));
  }

  /**
   * Reads a JSONL file.
   *
   * @throws AgentRlError `DATASET_INVALID`, with every problem of every line, `file:line path: …`; `CONFIG_INVALID` for
   * an unknown format.
   */
  static async fromPath(
    file: string,
    { format = 'agent_rl' }: { format?: CodeTaskFormat } = {},
  ): Promise<CodeTaskDataset> {
    const read = readerOf(format);
    const problems: DatasetProblem[] = [];
    const tasks: CodeTask[] = [];
    const lineOf = new Map<string, number>();
    for await (const row of readJsonLines(file)) {
      const reading = 'problem' in row ? { problems: [row.problem] } : read(row.value, row.line);
      if ('problems' in reading) {
        problems.push(...reading.problems);
        continue;
      }
      const { task } = reading;
      const first = lineOf.get(task.taskId);
      if (first === undefined) lineOf.set(task.taskId, row.line);
      else problems.push(duplicate(task.taskId, first, row.line));
      tasks.push(task);
    }
    if (problems.length > 0) throw datasetError(file, problems);
    if (tasks.length === 0) throw emptyError(file);
    return new CodeTaskDataset(file, tasks);
  }

  get size(): number {
    return this.tasks.length;
  }

  /** The task of this id, if the file has it. */
  get(taskId: string): CodeTask | undefined {
    return this.#byId.get(taskId);
  }

  [Symbol.iterator](): Iterator<CodeTask> {
    return this.tasks[Symbol.iterator]();
  }
}

const duplicate = (taskId: string, first: number, line: number): DatasetProblem => ({
  line,
  path: 'task_id',
  text: `${shownValue(taskId)} is already the task of line ${first}; every task_id must be unique.`,
});

const emptyError = (file: string): AgentRlError =>
  new AgentRlError(
    'DATASET_INVALID',
    `${file} holds no tasks; expected a JSONL file with one task a line.`,
  );

export interface CodeTaskSplits {
  train: CodeTaskDataset;
  eval: CodeTaskDataset;
}

/** Reads `<folder>/<split>.jsonl` of both splits. */
export async function loadCodeTaskSplits(
  folder: string,
  splits: { train?: string; eval?: string } = {},
): Promise<CodeTaskSplits> {
  const load = (split: string): Promise<CodeTaskDataset> =>
    CodeTaskDataset.fromPath(path.join(folder, `${split}.jsonl`));
  const [train, evaluation] = await Promise.all([
    load(splits.train ?? 'train'),
    load(splits.eval ?? 'eval'),
  ]);
  return { train, eval: evaluation };
}
