import { showValue } from '../../agent_rl/core/show-value.ts';
import type { CodeTask } from '../../agent_rl/core/tasks/code-task.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';

import type { TableReading } from '../tables/table-reading.ts';
import { humanEvalRowReader } from './human-eval-row.ts';
import { mbppRowReader } from './mbpp/mbpp-row.ts';
import {
  readSplits,
  readTasks,
  TaskDataset,
  type TaskFormat,
  type TaskSplits,
} from './read-tasks.ts';
import { taskRowReader } from './task-row.ts';

/** Formats a file of code tasks may have: our own, HumanEval's or MBPP's. */
export const codeTaskFormats = ['code', 'humaneval', 'mbpp'] as const;

export type CodeTaskFormat = (typeof codeTaskFormats)[number];

export const isCodeTaskFormat = (format: string): format is CodeTaskFormat =>
  (codeTaskFormats as readonly string[]).includes(format);

/** How rows of each format are read. */
export const codeFormats: Readonly<Record<CodeTaskFormat, TaskFormat<CodeTask>>> = {
  code: { needs: 'task_id, prompt, tests and compare', reader: taskRowReader },
  humaneval: {
    needs: 'task_id, prompt, entry_point, canonical_solution and test',
    reader: humanEvalRowReader,
  },
  mbpp: { needs: 'task_id, text, code and test_list', reader: mbppRowReader },
};

/** The code tasks of one file, in its order. */
export class CodeTaskDataset extends TaskDataset<CodeTask> {
  /**
   * Reads a file of JSONL, or of another kind by its ending.
   *
   * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file, `file:line path: …`;
   * `CONFIG_INVALID` for an unknown format.
   */
  static async fromPath(
    file: string,
    { format = 'code', ...reading }: TableReading & { format?: CodeTaskFormat } = {},
  ): Promise<CodeTaskDataset> {
    if (!isCodeTaskFormat(format)) {
      throw new AgentRlError(
        'CONFIG_INVALID',
        `The format ${showValue(format)} is not known. Known: ${codeTaskFormats.join(', ')}.`,
      );
    }
    const { tasks, places } = await readTasks(file, codeFormats[format], reading);
    return new CodeTaskDataset(file, tasks, places);
  }
}

export type CodeTaskSplits = TaskSplits<CodeTaskDataset>;

/** Reads `<folder>/<split>.jsonl` of both splits. */
export const loadCodeTaskSplits = (
  folder: string,
  splits: { train?: string; eval?: string } = {},
): Promise<CodeTaskSplits> => readSplits(folder, splits, (file) => CodeTaskDataset.fromPath(file));
