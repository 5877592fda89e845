import { mean, sum } from '../../algorithms/statistics.ts';
import type { IterationMetrics } from './metrics.ts';
import type { MetricName } from '../../telemetry/index.ts';

/** The metrics of a run, metric by metric. What an iteration did not measure is left out of it. */
export class Series {
  constructor(readonly iterations: readonly IterationMetrics[]) {}

  values(name: MetricName): number[] {
    return this.iterations.flatMap(({ metrics }) => metrics[name] ?? []);
  }

  /** 0 where it was never measured. */
  total(name: MetricName): number {
    return sum(this.values(name));
  }

  mean(name: MetricName): number | undefined {
    return meanOf(this.values(name));
  }

  median(name: MetricName): number | undefined {
    const sorted = this.values(name).toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  }

  last(name: MetricName): number | undefined {
    return this.values(name).at(-1);
  }

  /** Mean over the first quarter of the iterations that measured it. */
  early(name: MetricName): number | undefined {
    const values = this.values(name);
    return meanOf(values.slice(0, quarter(values)));
  }

  /** The same over the last quarter. */
  late(name: MetricName): number | undefined {
    const values = this.values(name);
    return meanOf(values.slice(-quarter(values)));
  }

  /** Both. */
  ends(name: MetricName): [early: number | undefined, late: number | undefined] {
    return [this.early(name), this.late(name)];
  }

  /** Members of a family, such as `outcome/`, by what follows in the name. */
  totals(family: `${string}/`): ReadonlyMap<string, number> {
    return new Map(
      this.familyNames(family).map((name) => [name, this.total(`${family}${name}` as MetricName)]),
    );
  }

  /** What follows the name of a family in the names of its members. */
  familyNames(family: `${string}/`): string[] {
    const names = new Set(this.iterations.flatMap(({ metrics }) => Object.keys(metrics)));
    return [...names]
      .filter((name) => name.startsWith(family))
      .map((name) => name.slice(family.length));
  }
}

const quarter = ({ length }: readonly number[]): number => Math.max(1, Math.floor(length / 4));

const meanOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : mean(values);
