import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Task } from '../../agent_rl/core/tasks/task.ts';
import { selectionFrom } from './plan/endless-plan.ts';
import type { TaskSet } from './task-sets.ts';

/**
 * Training tasks to be kept out of training, so that a checkpoint can be chosen by them: a choice by the seed among the
 * tasks of all sets, in their order. Where a set has no end, each gives its share by weight, that one tasks that are never
 * drawn.
 *
 * @throws AgentRlError `CONFIG_INVALID` when a set is left without tasks to train on.
 */
export function chooseSelection(
  sets: readonly TaskSet[],
  { count, seed }: { count: number; seed: number },
): readonly Task[] {
  const chosen = sets.some(({ endless }) => endless !== undefined)
    ? sharesOf(sets, count).flatMap((share, index) => {
        const { endless, tasks } = sets[index]!;
        const rng = new KeyedRng(seed, 'selection', index);
        return endless ? selectionFrom(endless, share) : someOf(tasks, share, rng);
      })
    : someOf(
        sets.flatMap(({ tasks }) => tasks),
        count,
        new KeyedRng(seed, 'selection'),
      );
  const left = withoutTasks(sets, new Set(chosen));
  if (left.every(({ tasks, endless }) => endless !== undefined || tasks.length > 0)) return chosen;
  const sizes = sets.map(({ tasks }) => tasks.length).join(' and ');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `eval.selectionTasks is ${count}, but there are only ${sizes} training tasks, so no task of a data set would be left for training. Lower eval.selectionTasks, or set checkpoint.keepBest to false.`,
  );
}

/** A random choice of `count` tasks, in their order. */
function someOf(tasks: readonly Task[], count: number, rng: KeyedRng): Task[] {
  const places = new Set(rng.shuffle([...tasks.keys()]).slice(0, count));
  return tasks.filter((_, place) => places.has(place));
}

/** A count in the ratio of the weights, the first sets having what cannot be divided. */
function sharesOf(sets: readonly TaskSet[], count: number): number[] {
  const total = sets.reduce((sum, { weight }) => sum + weight, 0);
  let [before, weights] = [0, 0];
  return sets.map(({ weight }) => {
    weights += weight;
    const share = Math.ceil((count * weights) / total) - before;
    before += share;
    return share;
  });
}

/** The sets with some of their tasks taken out. */
export const withoutTasks = (
  sets: readonly TaskSet[],
  out: ReadonlySet<Task | undefined>,
): readonly TaskSet[] =>
  sets.map((set) => ({ ...set, tasks: set.tasks.filter((task) => !out.has(task)) }));
