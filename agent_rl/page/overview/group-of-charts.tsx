import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';

import { Chart, type ChartLook } from '../charts/chart.tsx';
import type { ChartGroup, ChartSpec } from './chart-groups.ts';
import { chartLines, metricsOf, type ShownRun } from './chart-lines.ts';

interface GroupOfChartsProps {
  group: ChartGroup;
  runs: readonly ShownRun[];
  look: ChartLook;
  /** Charts that come first. */
  children?: ComponentChildren;
}

/** Charts under one heading; those whose metrics no run has are named, not drawn. */
export function GroupOfCharts({ group, runs, look, children }: GroupOfChartsProps) {
  const isRecorded = (spec: ChartSpec): boolean =>
    runs.some(({ table }) => metricsOf(spec, table).length > 0);
  const missing = group.charts.filter((spec) => !isRecorded(spec));
  return (
    <section aria-label={group.title}>
      <h2>{group.title}</h2>
      <div class="charts">
        {children}
        {group.charts.filter(isRecorded).map((spec) => (
          <SpecChart key={spec.title} spec={spec} runs={runs} look={look} />
        ))}
      </div>
      {missing.length > 0 && (
        <p class="missing">Not recorded: {missing.map(({ title }) => title).join(', ')}.</p>
      )}
    </section>
  );
}

function SpecChart({ spec, runs, look }: { spec: ChartSpec } & Omit<GroupOfChartsProps, 'group'>) {
  const { lines, always0 } = useMemo(() => chartLines(spec, runs), [spec, runs]);
  const table = runs.find((run) => metricsOf(spec, run.table).length > 0)?.table;
  const names = table === undefined ? [] : metricsOf(spec, table);
  const units = new Set(names.map((name) => table?.units[name] ?? ''));
  const meaning = names.map((name) => `${name}: ${table?.meanings[name] ?? ''}`).join('\n');
  const isOne = spec.isStacked && runs.length > 1;
  return (
    <Chart
      title={isOne ? `${spec.title} · ${runs[0]?.name}` : spec.title}
      unit={spec.shareOf === undefined && units.size === 1 ? ([...units][0] ?? '') : ''}
      meaning={meaning}
      lines={lines}
      {...(always0.length > 0 && {
        note: `always 0: ${always0.map((name) => name.split('/').at(-1)).join(', ')}`,
      })}
      isStacked={spec.isStacked ?? false}
      look={look}
    />
  );
}
