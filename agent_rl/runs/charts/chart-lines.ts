import type { Measured, MetricColumns, Rate } from '../view/api.ts';
import type { Chart, Line } from './chart.ts';
import { type ChartSpec, metricLabel } from './chart-specs.ts';

/** A run as charts show it. */
export interface ShownRun {
  name: string;
  colour: number;
  table: MetricColumns;
  /** Success on held-out tasks before training and after it. */
  heldOut: { before: Rate | null; after: Rate | null } | null;
  /** How many iterations were done after which `after` was measured. */
  iteration: number;
  /** Supervised training, whose iterations are called steps. */
  isSupervised: boolean;
}

/** The columns of a table that a chart shows. */
export function metricsOf(
  { metrics, choose = (names) => names }: ChartSpec,
  { columns }: MetricColumns,
): readonly string[] {
  const all = Object.keys(columns);
  const names = metrics.flatMap((wanted) =>
    all.filter((name) =>
      wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted,
    ),
  );
  return choose(names, all).filter((name) => columns[name]?.some((value) => value !== null));
}

/**
 * A chart of one or more runs, undefined if it would show nothing new. One run has a colour for each metric; several runs
 * have a colour each, and a dash for each metric. Members of a family that are always 0 are named but not drawn.
 */
export function chartOf(spec: ChartSpec, runs: readonly ShownRun[]): Chart | undefined {
  const of = spec.isStacked ? runs.slice(0, 1) : runs;
  const names = [...new Set(of.flatMap(({ table }) => metricsOf(spec, table)))];
  const isFamily = spec.metrics.some((name) => name.endsWith('*'));
  const is0 = (name: string): boolean =>
    of.every(({ table }) => table.columns[name]?.every((value) => !value));
  const always0 = isFamily && names.length > 1 ? names.filter(is0) : [];
  const drawn = names.filter((name) => !always0.includes(name));
  if (spec.isBreakdown && drawn.length < 2) return undefined;
  const evaluations = spec.hasHeldOut ? [{ label: heldOutLabel, columnOf: heldOutColumn }] : [];
  const quantities = [
    ...evaluations,
    ...drawn.map((name) => ({
      label: metricLabel(name, spec),
      columnOf: (run: ShownRun) => columnOf(spec, name, run.table),
    })),
  ];
  const lines = of.flatMap((run) =>
    quantities.flatMap(({ label, columnOf: column }, at): Line[] => {
      const values = column(run);
      if (values === undefined) return [];
      // Dotted, as if between points; the dashes of all others begin with an unbroken line.
      const dash = values.isEvaluation ? 2 : of.length === 1 ? 0 : at - evaluations.length;
      const isOnly = quantities.length === 1;
      const colour = isOnly || of.length > 1 ? run.colour : at;
      const whose = of.length === 1 ? label : `${run.name}: ${label}`;
      const isRun = isOnly && !spec.hasHeldOut && !(isFamily && of.length === 1);
      return [{ label: isRun ? run.name : whose, colour, dash, ...values }];
    }),
  );
  if (lines.length === 0) return undefined;
  const units = new Set(of.flatMap(({ table }) => drawn.map((name) => table.units[name] ?? '')));
  return {
    title: spec.isStacked && runs.length > 1 ? `${spec.title} · ${of[0]?.name}` : spec.title,
    unit: spec.shareOf === undefined && units.size === 1 ? ([...units][0] ?? '') : '',
    over: of.every(({ isSupervised }) => isSupervised) ? 'step' : 'iteration',
    isShare: spec.isShare,
    isStacked: spec.isStacked,
    shareTo: spec.shareTo,
    lines,
    note:
      always0.length === 0
        ? undefined
        : `always 0: ${always0.map((name) => name.split('/').at(-1)).join(', ')}`,
  };
}

type Columns = Pick<Line, 'isEvaluation' | 'xs' | 'ys' | 'low' | 'high'>;

function columnOf(
  { shareOf, interval, isEvaluation }: ChartSpec,
  name: string,
  { iterations: xs, columns }: MetricColumns,
): Columns | undefined {
  const ys = columns[name];
  if (ys === undefined) return undefined;
  const whole = shareOf === undefined ? undefined : (columns[shareOf] ?? []);
  const [low, high] = interval?.map((edge) => columns[edge]) ?? [];
  const shown = whole ? ys.map((value, at) => ratio(value, whole[at])) : ys;
  return { isEvaluation, xs, ys: shown, low, high };
}

const ratio = (value: Measured, whole: Measured | undefined): Measured =>
  typeof value === 'number' && typeof whole === 'number' && whole > 0 ? value / whole : null;

const heldOutLabel = 'held-out tasks, 95 % interval';

/** Evaluations before, during and after training; iteration 0 is before the first update. */
function heldOutColumn({ table, heldOut, iteration }: ShownRun): Columns | undefined {
  const { iterations, columns } = table;
  const { before = null, after = null } = heldOut ?? {};
  const points = new Map<number, Pick<Rate, 'low' | 'high'> & { value: Measured }>();
  if (before !== null) points.set(0, before);
  const at = (name: string, index: number) => columns[`eval/${name}`]?.[index] ?? null;
  for (const [index, x] of iterations.entries()) {
    const value = at('successRate', index);
    if (value === null) continue;
    const [low, high] = [at('intervalLow', index), at('intervalHigh', index)];
    points.set(x, { value, low: low as number | null, high: high as number | null });
  }
  // The last iteration may have been evaluated during training too.
  if (after !== null) points.set(iteration, after);
  if (points.size === 0) return undefined;
  const sorted = [...points].toSorted(([one], [two]) => one - two);
  return {
    isEvaluation: true,
    xs: sorted.map(([x]) => x),
    ys: sorted.map(([, { value }]) => value),
    low: sorted.map(([, { low }]) => low),
    high: sorted.map(([, { high }]) => high),
  };
}
