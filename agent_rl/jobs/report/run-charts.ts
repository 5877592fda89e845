import { AgentRlError } from '../../core/errors.ts';
import type { Chart } from '../../runs/charts/chart.ts';
import { chartOf, type ShownRun } from '../../runs/charts/chart-lines.ts';
import { chartGroups } from '../../runs/charts/chart-specs.ts';
import { columnsOf } from '../../runs/query/metrics.ts';
import { headlineOf } from '../../runs/view/run-state.ts';
import { iterationsOf, type ReportedRun } from './read/reported-run.ts';

const specs = chartGroups
  .flatMap(({ charts }) => charts)
  .flatMap((spec) => (spec.name === undefined ? [] : [{ spec, name: spec.name }]));

/**
 * The curves of runs over their iterations, several runs over each other; none that no run measured.
 *
 * @param names of the curves to draw; an empty list draws all
 * @throws AgentRlError `CONFIG_INVALID` for an unknown name, or one that no run measured
 */
export function runCharts(runs: readonly ReportedRun[], names: readonly string[] = []): Chart[] {
  const unknown = names.filter((name) => specs.every((one) => one.name !== name));
  if (unknown.length > 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `No curve is named ${unknown.map((name) => JSON.stringify(name)).join(', ')}. Known: ${specs.map(({ name }) => name).join(', ')}.`,
    );
  const shown = runs.map(shownRun);
  const charts = specs.flatMap(({ spec, name }) => {
    const chart = chartOf(spec, shown);
    return chart === undefined ? [] : [{ name, chart }];
  });
  const unmeasured = names.filter((name) => charts.every((one) => one.name !== name));
  if (unmeasured.length > 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--curves ${unmeasured.join(', ')}: no run of this report has this curve. Available curves: ${charts.map(({ name }) => name).join(', ') || 'none yet'}.`,
    );
  return charts
    .filter(({ name }) => names.length === 0 || names.includes(name))
    .map(({ chart }) => chart);
}

const shownRun = (run: ReportedRun, colour: number): ShownRun => ({
  name: run.folder.name,
  colour,
  table: columnsOf(run.metrics),
  heldOut: headlineOf(run.folder, run.summary),
  iteration: iterationsOf(run),
  isSupervised: run.isSupervised,
});
