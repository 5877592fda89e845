import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';

import { chartOf, metricsOf, type ShownRun } from '../../runs/charts/chart-lines.ts';
import type { ChartGroup } from '../../runs/charts/chart-specs.ts';
import { ChartFigure, type ChartLook } from '../charts/chart.tsx';

interface GroupOfChartsProps {
  group: ChartGroup;
  runs: readonly ShownRun[];
  look: ChartLook;
  /** Charts that come last. */
  children?: ComponentChildren;
}

/** Charts under one heading. Charts without any recorded metric are listed by title. */
export function GroupOfCharts({ group, runs, look, children }: GroupOfChartsProps) {
  const charts = useMemo(
    () =>
      group.charts.map((spec) => ({
        spec,
        chart: chartOf(spec, runs),
        meaning: meaningOf(runs.map(({ table }) => ({ table, names: metricsOf(spec, table) }))),
      })),
    [group, runs],
  );
  const missing = charts.filter(
    ({ chart, spec: { metrics } }) =>
      chart === undefined &&
      runs.every(({ table }) => metricsOf({ title: '', metrics }, table).length === 0),
  );
  return (
    <section aria-label={group.title}>
      <h2>{group.title}</h2>
      <div class="charts">
        {charts.map(
          ({ spec: { title }, chart, meaning }) =>
            chart && <ChartFigure key={title} chart={chart} meaning={meaning} look={look} />,
        )}
        {children}
      </div>
      {missing.length > 0 && (
        <p class="missing">Not recorded: {missing.map(({ spec }) => spec.title).join(', ')}.</p>
      )}
    </section>
  );
}

/** Descriptions of the metrics, from the first run that recorded any of them. */
function meaningOf(all: readonly { table: ShownRun['table']; names: readonly string[] }[]): string {
  const { table, names } = all.find((one) => one.names.length > 0) ?? { names: [] };
  return names.map((name) => `${name}: ${table?.meanings[name] ?? ''}`).join('\n');
}
