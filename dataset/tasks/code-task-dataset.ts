import { showValue } from '../../agent_rl/core/show-value.ts';
import type { CodeTask } from '../../agent_rl/core/tasks/code-task.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';

import { humanEvalRowReader } from './human-eval-row.ts';
import { mbppRowReader } from './mbpp/mbpp-row.ts';
import {
  readSplits,
  readTasks,
  type RowFormat,
  TaskDataset,
  type TaskSplits,
} from './read-tasks.ts';
import { taskRowReader } from './task-row.ts';

/** Formats a task file may have: our own, HumanEval's or MBPP's. */
export const codeTaskFormats = ['agent_rl', 'humaneval', 'mbpp'] as const;

export type CodeTaskFormat = (typeof codeTaskFormats)[number];

export const isCodeTaskFormat = (format: string): format is CodeTaskFormat =>
  (codeTaskFormats as readonly string[]).includes(format);

const formats: Readonly<Record<CodeTaskFormat, RowFormat<CodeTask>>> = {
  agent_rl: { needs: 'task_id, prompt, tests and compare', reader: taskRowReader },
  humaneval: {
    needs: 'task_id, prompt, entry_point, canonical_solution and test',
    reader: humanEvalRowReader,
  },
  mbpp: { needs: 'task_id, text, code and test_list', reader: mbppRowReader },
};

function formatOf(format: string): RowFormat<CodeTask> {
  if (isCodeTaskFormat(format)) return formats[format];
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The format ${showValue(format)} is not known. Known: ${codeTaskFormats.join(', ')}.`,
  );
}

/** The code tasks of one file, in its order. */
export class CodeTaskDataset extends TaskDataset<CodeTask> {
  /**
   * Reads a JSONL file.
   *
   * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file, `file:line path: …`;
   * `CONFIG_INVALID` for an unknown format.
   */
  static async fromPath(
    file: string,
    { format = 'agent_rl' }: { format?: CodeTaskFormat } = {},
  ): Promise<CodeTaskDataset> {
    const { tasks, warnings } = await readTasks(file, formatOf(format));
    return new CodeTaskDataset(file, tasks, warnings);
  }
}

export type CodeTaskSplits = TaskSplits<CodeTaskDataset>;

/** Reads `<folder>/<split>.jsonl` of both splits. */
export const loadCodeTaskSplits = (
  folder: string,
  splits: { train?: string; eval?: string } = {},
): Promise<CodeTaskSplits> => readSplits(folder, splits, (file) => CodeTaskDataset.fromPath(file));
