import type { Task } from './task.ts';

/** A question with its answer, where there is one to compare with. */
export interface QuestionTask extends Task {
  /** What a right answer says. */
  readonly answer?: string | undefined;
  /** Other wordings of the answer that count as well. */
  readonly aliases: readonly string[];
}
