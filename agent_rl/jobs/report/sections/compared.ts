import { mean } from '../../../algorithms/statistics.ts';
import { largest, smallest } from '../../../core/long-lists.ts';
import type { Difference, SuccessRate } from '../../../trainer/success-rate.ts';
import type { ReportedRun } from '../read/reported-run.ts';

/** Success on held-out tasks and how it changed, in all or in one group of them. */
export interface Compared {
  before?: SuccessRate | undefined;
  after?: SuccessRate | undefined;
  difference?: Difference | undefined;
}

/** Over all held-out tasks, slices left out. */
export const whole = ({ summary }: ReportedRun): Compared => {
  const { before, after, difference } = summary?.eval ?? {};
  return {
    before: before ?? undefined,
    after: after ?? undefined,
    difference: difference ?? undefined,
  };
};

/** The mean, and the lowest and the highest. */
export const spreadText = (
  values: readonly number[],
  written: (value: number) => string,
): string =>
  values.length === 0
    ? '-'
    : `${written(mean(values))} (${written(smallest(values))} to ${written(largest(values))})`;
