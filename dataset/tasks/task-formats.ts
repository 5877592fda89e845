import { type Static, Type } from '../../agent_rl/core/typebox.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { codeFormats } from './code-task-dataset.ts';
import { idOf, questionFormat } from './question-dataset.ts';
import type { TaskFormat } from './read-tasks.ts';
import { anyMetadata, filled, rowCheck } from './row-schema.ts';
import { searchFormat } from './search-task-dataset.ts';

const PlainRow = Type.Object({ task_id: filled, prompt: filled, metadata: anyMetadata });

/** `task_id` and `prompt`, and whatever else an environment needs, which becomes the task's `metadata`. */
const plainFormat: TaskFormat = {
  needs: 'task_id and prompt',
  reader: () => rowCheck(PlainRow, taskOf),
};

const EpisodeRow = Type.Object({
  task_id: Type.Optional(filled),
  prompt: Type.Optional(filled),
  slice: Type.Optional(filled),
});

/** `task_id`, `prompt` and `slice`, and what the reset of an environment elsewhere is sent: all but the last two. */
const episodeFormat: TaskFormat = {
  needs: 'the fields that the reset of the environment is sent, such as seed',
  reader: (file) =>
    rowCheck(EpisodeRow, (row, line) => {
      const { prompt, slice, ...reset } = row;
      // Two tasks with one prompt and different resets are different tasks.
      const told = {
        taskId: row.task_id ?? idOf(file, line),
        prompt: JSON.stringify({ prompt, ...reset }),
      };
      return { row: { ...told, metadata: { opening: prompt, slice, reset } } };
    }),
};

const isCode = (row: unknown) => isRecord(row) && 'tests' in row && !('question' in row);

/** Questions; a row with tests is a code task nevertheless. */
const questionOrCodeFormat: TaskFormat = {
  needs: questionFormat.needs,
  reader: (file) => {
    const [question, code] = [questionFormat.reader(file), codeFormats.code.reader(file)];
    return (row, line) => (isCode(row) ? code(row, line) : question(row, line));
  },
};

function taskOf(row: Static<typeof PlainRow>): { row: Task } {
  const { task_id: taskId, prompt, metadata, ...fields } = row;
  return { row: { taskId, prompt, metadata: { ...fields, ...metadata } } };
}

const formats: ReadonlyMap<string, TaskFormat> = new Map<string, TaskFormat>([
  ...Object.entries(codeFormats),
  ['plain', plainFormat],
  ['episode', episodeFormat],
  ['search', searchFormat],
  ['question', questionOrCodeFormat],
]);

/**
 * How rows of a format become tasks.
 *
 * @param namedBy where the format was named, for the message
 * @throws AgentRlError `CONFIG_INVALID` for an unknown format
 */
export function taskFormat(
  name: string,
  namedBy = 'datasets[].format, or --format of data verify',
): TaskFormat {
  const found = formats.get(name);
  if (found !== undefined) return found;
  throw new AgentRlError(
    'CONFIG_INVALID',
    `The format ${showValue(name)} is not known (${namedBy}). Known: ${[...formats.keys()].join(', ')}.`,
  );
}
