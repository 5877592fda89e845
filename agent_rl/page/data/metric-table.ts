import type { Measured, MetricColumns } from '../../runs/view/api.ts';

/** The metrics of a run, grown as it trains. */
export interface MetricTable extends MetricColumns {
  /** Increases with each answer that adds iterations. */
  version: number;
}

export const noMetrics: MetricTable = {
  iterations: [],
  columns: {},
  units: {},
  meanings: {},
  version: 0,
};

/** The last iteration with metrics; 0 before the first. */
export const lastIteration = ({ iterations }: MetricColumns): number => iterations.at(-1) ?? 0;

/** A table with later iterations added; a metric that only one of the two has is null in the other's rows. */
export function appended(table: MetricTable, more: MetricColumns): MetricTable {
  const fresh = more.iterations.findIndex((iteration) => iteration > lastIteration(table));
  if (fresh < 0) return table;
  const names = new Set([...Object.keys(table.columns), ...Object.keys(more.columns)]);
  const columns = [...names].map((name): [string, readonly Measured[]] => [
    name,
    [
      ...(table.columns[name] ?? table.iterations.map(() => null)),
      ...(more.columns[name] ?? more.iterations.map(() => null)).slice(fresh),
    ],
  ]);
  return {
    iterations: [...table.iterations, ...more.iterations.slice(fresh)],
    columns: Object.fromEntries(columns),
    units: { ...table.units, ...more.units },
    meanings: { ...table.meanings, ...more.meanings },
    version: table.version + 1,
  };
}
