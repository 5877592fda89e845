import { useMemo, useState } from 'preact/hooks';

import { metricsOf, type ShownRun } from '../../runs/charts/chart-lines.ts';
import { chartGroups } from '../../runs/charts/chart-specs.ts';
import type { ChartLook } from '../charts/chart.tsx';
import { GroupOfCharts } from './group-of-charts.tsx';

const drawnAbove = new Set(['eval/successRate', 'eval/intervalLow', 'eval/intervalHigh']);

/** A chart for every metric that no chart above shows, folded. */
export function OtherMetrics({ runs, look }: { runs: readonly ShownRun[]; look: ChartLook }) {
  const [isOpen, setOpen] = useState(false);
  const group = useMemo(() => {
    const specs = chartGroups.flatMap(({ charts }) => charts);
    const shown = new Set(
      runs.flatMap(({ table }) => specs.flatMap((spec) => metricsOf(spec, table))),
    );
    const names = new Set(runs.flatMap(({ table }) => Object.keys(table.columns)));
    const others = [...names].filter((name) => !shown.has(name) && !drawnAbove.has(name));
    const charts = others.toSorted().map((name) => ({
      title: name,
      metrics: [name],
      isEvaluation: /^(eval|selection)\//.test(name),
    }));
    return { title: 'All other metrics', charts };
  }, [runs]);
  if (group.charts.length === 0) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{group.charts.length} other metrics</summary>
      {isOpen && <GroupOfCharts group={group} runs={runs} look={look} />}
    </details>
  );
}
