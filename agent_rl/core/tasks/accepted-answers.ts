import type { Task } from './task.ts';

/** A task that says what its answer is: `answer` and, optionally, `aliases`, on the task itself or in its metadata. */
interface Answered {
  readonly answer?: unknown;
  readonly aliases?: unknown;
}

const isText = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

/** The answers that count as right, the first one first; empty for a task that names none. */
export function acceptedAnswers(task: Task): readonly string[] {
  const { answer, aliases } = isText((task as Answered).answer)
    ? (task as Answered)
    : (task.metadata as Answered);
  const others: readonly unknown[] = Array.isArray(aliases) ? aliases : [];
  return [answer, ...others].filter(isText).map(String);
}
