import type { Measured } from '../../runs/view/api.ts';
import type { Line } from '../charts/plot-data.ts';
import type { MetricTable } from '../data/metric-table.ts';
import type { ChartSpec } from './chart-groups.ts';

/** A run as charts show it. */
export interface ShownRun {
  id: string;
  name: string;
  colour: number;
  table: MetricTable;
}

export interface ChartLines {
  lines: readonly Line[];
  /** Members of a family that are 0 throughout, and are not drawn. */
  always0: readonly string[];
}

/** Names of a table's columns that a chart shows. */
export function metricsOf(spec: ChartSpec, { columns }: MetricTable): readonly string[] {
  const isIn = (name: string): boolean =>
    spec.metrics.some((wanted) =>
      wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted,
    );
  const isPart = (name: string): boolean => name.replace(/^seconds/, 'busy') in columns;
  return Object.keys(columns)
    .filter(isIn)
    .filter((name) => !spec.without?.includes(name))
    .filter(
      (name) => spec.only === undefined || isPart(name) === (spec.only === 'parts of an iteration'),
    )
    .filter((name) => columns[name]?.some((value) => value !== null));
}

/**
 * The lines of a chart: a colour for each metric of one run; of several runs, a colour for each run and a dash for each
 * metric. What is stacked is of the first run.
 */
export function chartLines(spec: ChartSpec, runs: readonly ShownRun[]): ChartLines {
  const of = spec.isStacked ? runs.slice(0, 1) : runs;
  const names = [...new Set(of.flatMap(({ table }) => metricsOf(spec, table)))];
  const isFamily = spec.metrics.some((name) => name.endsWith('*'));
  const is0 = (name: string): boolean =>
    of.every(({ table }) => table.columns[name]?.every((value) => value === 0 || value === null));
  const always0 = isFamily && names.length > 1 ? names.filter(is0) : [];
  const drawn = names.filter((name) => !always0.includes(name));
  const lines = of.flatMap((run) =>
    drawn
      .filter((name) => name in run.table.columns)
      .map((name) => {
        const metric = shortName(name, drawn);
        const isOneRun = of.length === 1;
        const at = drawn.indexOf(name);
        const look = {
          label: isOneRun ? metric : drawn.length === 1 ? run.name : `${run.name}: ${metric}`,
          colour: isOneRun && drawn.length > 1 ? at : run.colour,
          dash: isOneRun ? 0 : at,
        };
        return Object.assign(look, columnOf(spec, name, run.table));
      }),
  );
  return { lines, always0 };
}

function columnOf(
  spec: ChartSpec,
  name: string,
  { iterations, columns }: MetricTable,
): Pick<Line, 'xs' | 'ys' | 'low' | 'high'> {
  const whole = spec.shareOf === undefined ? undefined : columns[spec.shareOf];
  const ys = columns[name] ?? [];
  const [low, high] = spec.interval?.map((edge) => columns[edge]) ?? [];
  return {
    xs: iterations,
    ys: spec.shareOf === undefined ? ys : ys.map((value, at) => shareOf(value, whole?.[at])),
    ...(low && high && { low, high }),
  };
}

const shareOf = (value: Measured, whole: Measured | undefined): Measured =>
  typeof value === 'number' && typeof whole === 'number' && whole > 0 ? value / whole : null;

/** Without what all of them begin with, up to a slash. */
function shortName(name: string, among: readonly string[]): string {
  const begin = name.slice(0, name.indexOf('/') + 1);
  return among.every((other) => other.startsWith(begin)) ? name.slice(begin.length) : name;
}
