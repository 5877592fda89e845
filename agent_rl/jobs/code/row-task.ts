import type { CodeTask } from '../../core/tasks/code-task.ts';
import type { EpisodeView } from '../../core/plugins/reward.ts';
import type { Task } from '../../core/tasks/task.ts';

/** What an answer is read as: text, whatever the row has. */
export type AnswerOf<Row> = Row extends { answer: infer Answer extends string | number | boolean }
  ? { readonly answer: `${Answer}` }
  : { readonly answer?: string };

/** The fields of a row that are in the metadata of its task: all but those that are read into it. */
export type OtherFields<Row, Read extends string> = Readonly<
  Omit<Row, Read | 'task_id' | 'taskId' | 'metadata'>
> &
  (Row extends { metadata: infer Metadata } ? Readonly<Metadata> : unknown);

/**
 * The task that a row of a program becomes. Of `{ question, answer, aliases }` and of `{ prompt }` all other fields are in
 * its `metadata`. An agent with a loop of its own is asked `prompt` as a question, and its task has the row's `answer` too.
 */
export type TaskOf<Row> = Row extends { question: string }
  ? Task &
      AnswerOf<Row> & {
        readonly aliases: readonly string[];
        readonly metadata: OtherFields<Row, 'question' | 'answer' | 'aliases'>;
      }
  : Row extends { prompt: string; tests: unknown }
    ? CodeTask
    : Row extends { prompt: string }
      ? Task & Partial<AnswerOf<Row>> & { readonly metadata: OtherFields<Row, 'prompt'> }
      : Task & Partial<AnswerOf<Row>>;

/** A finished episode of the task of a row. */
export interface EpisodeOf<Row> extends EpisodeView {
  readonly task: TaskOf<Row>;
}
