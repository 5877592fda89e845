import {
  compare,
  type Comparison,
  groupsIn,
  type SuccessRate,
  successRateOf,
  type TaskAttempts,
} from '../../trainer/success-rate.ts';
import { type HeldOutEvaluation, type TaskGroups, withGroups } from './held-out-attempts.ts';

/** The same held-out tasks in two evaluations. */
export interface HeldOutDifference {
  a: Pick<HeldOutEvaluation, 'when' | 'iteration'>;
  b: Pick<HeldOutEvaluation, 'when' | 'iteration'>;
  /** Tasks in both. */
  paired: number;
  /** Tasks that one of them lacks, or that begin with other messages. */
  onlyA: number;
  onlyB: number;
  otherPrompt: number;
  /** Over the paired tasks, slices left out, and of each slice. */
  rates: readonly { name: string; a: SuccessRate; b: SuccessRate }[];
  /** B less A; absent where no task has a verdict in both. */
  change?: Comparison | undefined;
}

/**
 * Which evaluations belong together: those before training, and the last of each run where both come after some of it.
 */
export function evaluationPairs(
  a: readonly HeldOutEvaluation[],
  b: readonly HeldOutEvaluation[],
): [HeldOutEvaluation, HeldOutEvaluation][] {
  const first = [a, b].map((all) => all.find(({ when }) => when === 'before'));
  const last = [a, b].map((all) => all.findLast(({ when }) => when !== 'before'));
  return [first, last].flatMap(([one, other]) =>
    one === undefined || other === undefined ? [] : [[one, other]],
  );
}

/** Pairs the tasks of two evaluations; `undefined` when they share none. */
export function heldOutDifference(
  a: HeldOutEvaluation,
  b: HeldOutEvaluation,
  { groups, seed }: { groups: TaskGroups; seed: number },
): HeldOutDifference | undefined {
  const shared = [...a.tasks].flatMap(([taskId, task]) => {
    const other = b.tasks.get(taskId);
    return other === undefined ? [] : [{ task, other }];
  });
  const pairs = shared.filter(({ task, other }) => task.prompt === other.prompt);
  if (pairs.length === 0) return undefined;
  const attempts = (which: 'task' | 'other'): TaskAttempts[] =>
    pairs.map((pair) => withGroups(pair[which].attempts, groups));
  const [ofA, ofB] = [attempts('task'), attempts('other')];
  const change = compare(ofA, ofB, seed);
  const rateOf = (tasks: readonly TaskAttempts[], name?: string): SuccessRate =>
    successRateOf(
      tasks.filter((task) => (name === undefined ? !task.ofSlice : task.groups.includes(name))),
      { seed, of: name === undefined ? 'total' : `group ${name}` },
    );
  return {
    a: { when: a.when, iteration: a.iteration },
    b: { when: b.when, iteration: b.iteration },
    paired: pairs.length,
    onlyA: a.tasks.size - shared.length,
    onlyB: b.tasks.size - shared.length,
    otherPrompt: shared.length - pairs.length,
    rates: [
      { name: 'total (without slices)', a: rateOf(ofA), b: rateOf(ofB) },
      ...groupsIn(ofA).map((name) => ({ name, a: rateOf(ofA, name), b: rateOf(ofB, name) })),
    ],
    change,
  };
}
