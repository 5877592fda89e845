import {
  compare,
  type Comparison,
  type Interval95,
  successRateOf,
  type TaskAttempts,
} from '../../../agent_rl/trainer/success-rate.ts';
import type { Measure, TaskCounts } from './counts.ts';

/** A mean, or how much higher it is than another, with its 95 % interval by clusters. Plain JSON. */
export interface Figure {
  /** `null` of nothing. */
  value: number | null;
  /** Over tasks or families, whichever is wider; `null` where no two clusters differ and it is no share. */
  interval95: Interval95 | null;
  /** What it is the mean over: attempts, solved ones or tasks; of a difference, tasks. */
  n: number;
}

/** A figure of the headline, under this name, and of each slice. */
export type BySlice = Readonly<Record<string, Figure>>;

export const headline = 'headline';

/** An evaluation that may have kept its tasks. */
export interface Kept {
  perTask?: readonly TaskAttempts[];
  counts?: readonly TaskCounts[];
}

/** The mean of a quantity; `undefined` where the evaluation kept no counts. */
export function figuresOf(evaluation: Kept, measure: Measure, seed: number): BySlice | undefined {
  const tasks = measured(evaluation, measure);
  if (tasks === undefined) return undefined;
  const slices = [...new Set(tasks.flatMap(({ groups }) => groups))];
  const figureOf = (of: string, some: readonly TaskAttempts[]): [string, Figure] => {
    const { n, successRate, interval95 } = successRateOf(some, { seed, of });
    return [of, { n, value: successRate, interval95: applicable(interval95, measure) }];
  };
  return Object.fromEntries([
    figureOf(
      headline,
      tasks.filter(({ ofSlice }) => !ofSlice),
    ),
    ...slices.map((slice) =>
      figureOf(
        slice,
        tasks.filter(({ groups }) => groups.includes(slice)),
      ),
    ),
  ]);
}

/**
 * How much higher the mean of a quantity is than in another evaluation, over tasks that have it in both, paired.
 *
 * @returns `undefined` where one of them kept no counts, they are of other tasks or no task has it in both
 */
export function figureDifferences(
  [first, second]: readonly [first: Kept, second: Kept],
  measure: Measure,
  seed: number,
): BySlice | undefined {
  const [higher, lower] = [measured(first, measure), measured(second, measure)];
  const found = higher && lower && compare(lower, higher, seed);
  if (found === undefined) return undefined;
  const { groups, ...whole } = found;
  const figure = ({ difference, interval95, tasks }: Omit<Comparison, 'groups'>): Figure => ({
    value: difference,
    interval95: applicable(interval95, measure),
    n: tasks,
  });
  return Object.fromEntries(
    Object.entries({ [headline]: whole, ...groups }).map(([slice, one]) => [slice, figure(one)]),
  );
}

/** The tasks with a quantity instead of successes. */
function measured({ perTask, counts }: Kept, measure: Measure): TaskAttempts[] | undefined {
  if (perTask === undefined || counts === undefined) return undefined;
  return perTask.map((task, index) => {
    const { n, total } = measure.of(task, counts[index]!);
    return { ...task, n, successes: total };
  });
}

/** Where clusters do not differ, the interval is Wilson's, which is one of shares. */
const applicable = (interval95: Interval95 | null, { isShare }: Measure): Interval95 | null =>
  isShare || interval95?.method === 'cluster-bootstrap' ? interval95 : null;
