import { type Static, Type } from 'typebox';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { codeFormats } from './code-task-dataset.ts';
import { questionFormat } from './question-dataset.ts';
import type { RowReader } from './read-rows.ts';
import type { TaskFormat } from './read-tasks.ts';
import { anyMetadata, filled, rowCheck } from './row-schema.ts';
import { searchFormat } from './search-task-dataset.ts';

const PlainRow = Type.Object({ task_id: filled, prompt: filled, metadata: anyMetadata });

/** `task_id` and `prompt`, and whatever else an environment needs, which becomes the task's `metadata`. */
const plainFormat: TaskFormat = {
  needs: 'task_id and prompt',
  reader: () => rowCheck(PlainRow, taskOf),
};

function taskOf(row: Static<typeof PlainRow>): { row: Task } {
  const { task_id: taskId, prompt, metadata, ...fields } = row;
  return { row: { taskId, prompt, metadata: { ...fields, ...metadata } } };
}

/** Whether a row of the format `mixed` is one of `search`, and not of `code`. */
export const isQuestion = (row: unknown): boolean => isRecord(row) && 'question' in row;

/** Code tasks or questions, whichever the first row is. */
const eitherFormat: TaskFormat = {
  needs: `${codeFormats.code.needs}, or ${searchFormat.needs}`,
  reader: (file) => {
    let read: RowReader<Task> | undefined;
    return (row, line) => {
      read ??= (isQuestion(row) ? searchFormat : codeFormats.code).reader(file);
      return read(row, line);
    };
  },
};

const formats: ReadonlyMap<string, TaskFormat> = new Map<string, TaskFormat>([
  ...Object.entries(codeFormats),
  ['plain', plainFormat],
  ['mixed', eitherFormat],
  ['search', searchFormat],
  ['question', questionFormat],
]);

/**
 * How rows of a format become tasks.
 *
 * @param namedBy where the format was named, for the message
 * @throws AgentRlError `CONFIG_INVALID` for an unknown format
 */
export function taskFormat(
  name: string,
  namedBy = 'dataset.format, or --format of verify-dataset',
): TaskFormat {
  const found = formats.get(name);
  if (found !== undefined) return found;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The format ${showValue(name)} is not known (${namedBy}). Known: ${[...formats.keys()].join(', ')}.`,
  );
}
