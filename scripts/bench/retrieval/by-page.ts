import {
  differenceInterval95,
  rateInterval95,
} from '../../../agent_rl/algorithms/cluster-bootstrap.ts';
import { mean } from '../../../agent_rl/algorithms/statistics.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { fixed } from '../bench-run.ts';

/** A mean with its 95 % interval, by bootstrap over pages. */
export interface Measured {
  mean: number;
  low: number;
  high: number;
}

/** A value from 0 to 1 of each question, and the page it is about. */
export interface PagedValue {
  page: string;
  value: number;
}

const random = (): KeyedRng => new KeyedRng('bench pages');

/** The mean of values. */
export function meanByPage(values: readonly PagedValue[]): Measured {
  const interval = rateInterval95([...clustersOf(values).values()], random());
  return measured(mean(values.map(({ value }) => value)), interval);
}

/** How much higher the second values are in the mean. Both are of the same questions. */
export function gainByPage(before: readonly PagedValue[], after: readonly PagedValue[]): Measured {
  const later = clustersOf(after);
  const pairs = [...clustersOf(before)].map(([page, cluster]) => ({
    before: cluster,
    after: later.get(page) ?? { n: 0, successes: 0 },
  }));
  const difference = mean(after.map(({ value }, index) => value - (before[index]?.value ?? 0)));
  return measured(difference, differenceInterval95(pairs, random()));
}

/** As in a table: `0.923 (0.910 to 0.935)`. */
export const measuredText = ({ mean: middle, low, high }: Measured): string =>
  `${fixed(middle, 3)} (${fixed(low, 3)} to ${fixed(high, 3)})`;

const measured = (
  middle: number,
  interval: { low: number; high: number } | undefined,
): Measured => ({
  mean: middle,
  low: interval?.low ?? Number.NaN,
  high: interval?.high ?? Number.NaN,
});

function clustersOf(values: readonly PagedValue[]) {
  const clusters = new Map<string, { n: number; successes: number }>();
  for (const { page, value } of values) {
    const { n, successes } = clusters.get(page) ?? { n: 0, successes: 0 };
    clusters.set(page, { n: n + 1, successes: successes + value });
  }
  return clusters;
}
