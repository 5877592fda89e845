import {
  type ClusterInterval,
  differenceInterval95,
  rateInterval95,
} from '../algorithms/cluster-bootstrap.ts';
import { sum, wilson95, worstCaseBounds } from '../algorithms/statistics.ts';
import { KeyedRng } from '../core/keyed-rng.ts';

/** How the attempts at one task ended. Plain JSON. */
export interface TaskAttempts {
  taskId: string;
  /** Attempts with a verdict, and successes among them. */
  n: number;
  successes: number;
  /** Attempts that failed because of the system, without a verdict. */
  failed: number;
  /** Names of the groups the task is reported in. */
  groups: readonly string[];
  /** Whether it belongs to a slice, which totals leave out. */
  ofSlice: boolean;
  /** The common feature of its tasks, through which their attempts are correlated. */
  family?: string | undefined;
  /** The same for each agent, if episodes have several. */
  agents?: Readonly<Record<string, Pick<TaskAttempts, 'n' | 'successes' | 'failed'>>> | undefined;
}

/** A 95 % interval by cluster bootstrap, and what its clusters are. */
export interface Interval95 extends ClusterInterval {
  over: 'tasks' | 'families';
}

/** The intervals of one figure. Plain JSON. */
export interface Intervals95 {
  /** The wider one, which is shown; `null` if nothing was judged. */
  interval95: Interval95 | null;
  /** The other one; `null` if tasks have no family, share one family, or families do not differ. */
  narrower95: Interval95 | null;
}

/** Successes among attempts with a verdict, and intervals of the rate. */
export interface SuccessRate extends Intervals95 {
  n: number;
  successes: number;
  /** `null` when nothing was judged. */
  successRate: number | null;
  /** Wilson's interval, as if all attempts were independent, also of one task; `null` when nothing was judged. */
  wilson95: readonly [low: number, high: number] | null;
  /** Attempts the system failed; not among `n`. */
  failed: number;
  /** Of all attempts; `null` without attempts. */
  failedShare: number | null;
  /** The rate if all failed attempts had failed their task, and if all had solved it; `null` without attempts. */
  worstCase: readonly [low: number, high: number] | null;
}

/** What changed between two evaluations of the same tasks. */
export interface Difference extends Intervals95 {
  /** Tasks with a verdict in both. */
  tasks: number;
  /** Success rate after minus before, over these tasks. */
  difference: number;
  /** Its bounds over all tasks, whatever the failed attempts would have been. */
  worstCase: readonly [low: number, high: number];
}

/** What changed in all, slices left out, and by group. */
export interface Comparison extends Difference {
  groups: Readonly<Record<string, Difference>>;
}

/** The name of a metric: intervals of different metrics use different resamples. */
export interface FigureKey {
  seed: number;
  of: string;
}

/** The rate over some tasks with its intervals. */
export function successRateOf(tasks: readonly TaskAttempts[], key: FigureKey): SuccessRate {
  const n = sum(tasks.map((task) => task.n));
  const successes = sum(tasks.map((task) => task.successes));
  const failed = sum(tasks.map((task) => task.failed));
  const attempts = n + failed;
  return {
    n,
    successes,
    successRate: n === 0 ? null : successes / n,
    wilson95: n === 0 ? null : wilson95(successes, n),
    ...intervalsOf(
      tasks.filter((task) => task.n > 0),
      key,
      (clusters, random) => rateInterval95(clusters.map(together), random),
    ),
    failed,
    failedShare: attempts === 0 ? null : failed / attempts,
    worstCase: attempts === 0 ? null : worstCaseBounds(successes, n, failed),
  };
}

/** The same task in two evaluations. */
interface TaskPair {
  before: TaskAttempts;
  after: TaskAttempts;
}

/**
 * What changed between two evaluations of the same tasks in the same order.
 *
 * @returns `undefined` when they are of other tasks, or no task has a verdict in both.
 */
export function compare(
  before: readonly TaskAttempts[],
  after: readonly TaskAttempts[],
  seed: number,
): Comparison | undefined {
  if (before.length !== after.length) return undefined;
  const pairs = after.map((task, index) => ({
    before: before[index] as TaskAttempts,
    after: task,
  }));
  if (pairs.some((pair) => pair.before.taskId !== pair.after.taskId)) return undefined;
  const total = differenceOf(
    pairs.filter((pair) => !pair.after.ofSlice),
    { seed, of: 'difference' },
  );
  if (total === undefined) return undefined;
  const groups = groupsIn(after).flatMap((name) => {
    const inGroup = pairs.filter((pair) => pair.after.groups.includes(name));
    const changed = differenceOf(inGroup, { seed, of: `difference in ${name}` });
    return changed === undefined ? [] : [[name, changed] as const];
  });
  const agents = agentsIn(after).flatMap((name) => {
    const own = pairs.flatMap((pair) => {
      const [first, second] = [pair.before, pair.after].map((one) => attemptsOf(name, [one])[0]);
      return first && second && !second.ofSlice ? [{ before: first, after: second }] : [];
    });
    const changed = differenceOf(own, { seed, of: `difference of agent ${name}` });
    return changed === undefined ? [] : [[agentGroup(name), changed] as const];
  });
  return { ...total, groups: Object.fromEntries([...groups, ...agents]) };
}

/** The key of an agent's success among the success rates of task groups. */
export const agentGroup = (name: string): string => `agent ${name}`;

/** Names of all agents, sorted. */
export const agentsIn = (tasks: readonly TaskAttempts[]): string[] =>
  [...new Set(tasks.flatMap(({ agents = {} }) => Object.keys(agents)))].toSorted();

/** Attempts as one agent ended them, at the tasks that have it. */
export const attemptsOf = (name: string, tasks: readonly TaskAttempts[]): TaskAttempts[] =>
  tasks.flatMap((task) => {
    const own = task.agents?.[name];
    return own === undefined ? [] : [{ ...task, ...own }];
  });

/** Names of all groups, sorted. */
export const groupsIn = (tasks: readonly TaskAttempts[]): string[] =>
  [...new Set(tasks.flatMap(({ groups }) => groups))].toSorted();

function differenceOf(pairs: readonly TaskPair[], key: FigureKey): Difference | undefined {
  const judged = pairs.filter(({ before, after }) => before.n > 0 && after.n > 0);
  if (judged.length === 0) return undefined;
  const pooled = togetherInBoth(judged);
  const all = togetherInBoth(pairs);
  const [lowBefore, highBefore] = boundsOf(all.before);
  const [lowAfter, highAfter] = boundsOf(all.after);
  return {
    tasks: judged.length,
    difference: pooled.after.successes / pooled.after.n - pooled.before.successes / pooled.before.n,
    ...intervalsOf(judged, key, (clusters, random) =>
      differenceInterval95(clusters.map(togetherInBoth), random),
    ),
    worstCase: [lowAfter - highBefore, highAfter - lowBefore],
  };
}

const together = (tasks: readonly TaskAttempts[]) => ({
  n: sum(tasks.map(({ n }) => n)),
  successes: sum(tasks.map(({ successes }) => successes)),
  failed: sum(tasks.map(({ failed }) => failed)),
});

const togetherInBoth = (pairs: readonly TaskPair[]) => ({
  before: together(pairs.map(({ before }) => before)),
  after: together(pairs.map(({ after }) => after)),
});

const boundsOf = ({ n, successes, failed }: ReturnType<typeof together>) =>
  worstCaseBounds(successes, n, failed);

const width = (one: Interval95 | null): number => (one === null ? 0 : one.high - one.low);

/**
 * Intervals over tasks, whose attempts are correlated, and also over families if tasks have them. The wider is shown:
 * Cameron and Miller 2015, section IV, https://doi.org/10.3368/jhr.50.2.317, advise the larger clusters as long as
 * there are not too few. Families that do not differ give no interval.
 */
export function intervalsOf<One extends TaskAttempts | TaskPair>(
  judged: readonly One[],
  { seed, of }: FigureKey,
  interval: (
    clusters: readonly (readonly One[])[],
    random: KeyedRng,
  ) => ClusterInterval | undefined,
): Intervals95 {
  const over = (unit: Interval95['over'], clusters: readonly (readonly One[])[]) => {
    const found = interval(clusters, new KeyedRng(seed, 'bootstrap', of, unit));
    return found === undefined ? null : { over: unit, ...found };
  };
  const tasks = over(
    'tasks',
    judged.map((one) => [one]),
  );
  const families = new Map<string, One[]>();
  for (const one of judged) {
    const { taskId, family } = 'after' in one ? one.after : one;
    const name = family === undefined ? `task ${taskId}` : `family ${family}`;
    const members = families.get(name);
    if (members === undefined) families.set(name, [one]);
    else members.push(one);
  }
  if (families.size < 2 || families.size === judged.length)
    return { interval95: tasks, narrower95: null };
  const ofFamilies = over('families', [...families.values()]);
  if (ofFamilies?.method !== 'cluster-bootstrap') return { interval95: tasks, narrower95: null };
  return width(ofFamilies) > width(tasks)
    ? { interval95: ofFamilies, narrower95: tasks }
    : { interval95: tasks, narrower95: ofFamilies };
}
