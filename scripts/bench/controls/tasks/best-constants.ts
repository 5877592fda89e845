import type { Task } from '../../../../agent_rl/core/tasks/task.ts';

/** Whether the judge pays for an answer to a task. */
export type Pays = (task: Task, answer: string) => Promise<boolean>;

/** Most constants that are tried for tasks of a family that was not trained on: the commonest ones. */
const mostTried = 20;

function familyOf({ metadata }: Task): string {
  const { family } = metadata;
  return typeof family === 'string' ? family : '';
}

/**
 * A table without a model: for each family of tasks the constant answer that the judge pays most often in training, and for
 * other families the one that pays most often over all. Of equal ones the first in the alphabet.
 *
 * @returns the answer it gives to a task
 */
export async function bestConstants(
  trained: readonly (Task & { answer?: string })[],
  pays: Pays,
): Promise<(task: Task) => string> {
  const best = new Map<string, string>();
  for (const family of new Set(trained.map(familyOf))) {
    const tasks = trained.filter((task) => familyOf(task) === family);
    best.set(family, await mostPaid(tasks, answersOf(tasks), pays));
  }
  const common = answersOf(trained).slice(0, mostTried);
  const fallback = await mostPaid(trained, common, pays);
  return (task) => best.get(familyOf(task)) ?? fallback;
}

/** Commonest first. */
function answersOf(tasks: readonly { answer?: string }[]): string[] {
  const counts = new Map<string, number>();
  for (const { answer } of tasks)
    if (answer !== undefined) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts]
    .toSorted(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
    .map(([answer]) => answer);
}

async function mostPaid(
  tasks: readonly Task[],
  answers: readonly string[],
  pays: Pays,
): Promise<string> {
  let best = { answer: '', paid: -1 };
  for (const answer of answers) {
    let paid = 0;
    for (const task of tasks) if (await pays(task, answer)) paid += 1;
    if (paid > best.paid || (paid === best.paid && answer < best.answer)) best = { answer, paid };
  }
  return best.answer;
}
