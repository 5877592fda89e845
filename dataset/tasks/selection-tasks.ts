import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import type { TaskSet } from './task-sets.ts';

/**
 * Training tasks to be kept out of training, so that a checkpoint can be chosen by them: a choice by the seed among the
 * tasks of all sets, in their order.
 *
 * @throws AgentRlError `CONFIG_INVALID` when a set is left without tasks to train on.
 */
export function chooseSelection(
  sets: readonly TaskSet[],
  { count, seed }: { count: number; seed: number },
): readonly Task[] {
  const all = sets.flatMap(({ tasks }) => tasks);
  const places = new KeyedRng(seed, 'selection').shuffle([...all.keys()]);
  const chosen = new Set(places.slice(0, count).map((place) => all[place]));
  if (withoutTasks(sets, chosen).every(({ tasks }) => tasks.length > 0))
    return all.filter((task) => chosen.has(task));
  const sizes = sets.map(({ tasks }) => tasks.length).join(' and ');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `eval.selectionTasks is ${count}, and there are ${sizes} training tasks: a set would have none left to train on. Take fewer, or set checkpoint.keepBest to false.`,
  );
}

/** The sets with some of their tasks taken out. */
export const withoutTasks = (
  sets: readonly TaskSet[],
  out: ReadonlySet<Task | undefined>,
): readonly TaskSet[] =>
  sets.map(({ tasks, weight }) => ({ weight, tasks: tasks.filter((task) => !out.has(task)) }));
