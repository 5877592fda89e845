import { describe, expect, test } from '@jest/globals';

import { noMetrics } from '#agent_rl/page/data/metric-table.ts';
import { chartGroups, type ChartSpec } from '#agent_rl/page/overview/chart-groups.ts';
import { chartLines, type ShownRun } from '#agent_rl/page/overview/chart-lines.ts';
import { metricDefinition } from '#agent_rl/telemetry/metric-names.ts';

const run = (name: string, colour: number, columns: Record<string, number[]>): ShownRun => ({
  id: name,
  name,
  colour,
  table: { ...noMetrics, iterations: [1, 2], columns },
});
const labels = (spec: ChartSpec, ...runs: ShownRun[]) =>
  chartLines(spec, runs).lines.map(({ label, colour, dash }) => [label, colour, dash]);
const one = run('one', 5, { 'a/x': [1, 2], 'a/y': [3, 4], 'a/z': [0, 0] });
const two = run('two', 6, { 'a/x': [1, 2], 'a/y': [3, 4] });

describe('lines of a chart', () => {
  test('have a colour for each metric of one run', () => {
    expect(labels({ title: '', metrics: ['a/x', 'a/y'] }, one)).toEqual([
      ['x', 0, 0],
      ['y', 1, 0],
    ]);
  });

  test('have a colour for each run and a dash for each metric of several', () => {
    expect(labels({ title: '', metrics: ['a/x', 'a/y'] }, one, two)).toEqual([
      ['one: x', 5, 0],
      ['one: y', 5, 1],
      ['two: x', 6, 0],
      ['two: y', 6, 1],
    ]);
  });

  test('bear the name of the run where there is one metric', () => {
    expect(labels({ title: '', metrics: ['a/x'] }, one, two)).toEqual([
      ['one', 5, 0],
      ['two', 6, 0],
    ]);
  });

  test('members of a family that are 0 throughout are named and not drawn', () => {
    const { lines, always0 } = chartLines({ title: '', metrics: ['a/*'] }, [one]);
    expect(lines.map(({ label }) => label)).toEqual(['x', 'y']);
    expect(always0).toEqual(['a/z']);
  });

  test('what is stacked is of the first run', () => {
    expect(labels({ title: '', metrics: ['a/x'], isStacked: true }, one, two)).toHaveLength(1);
  });

  test('a share is of another metric, and null where that is 0', () => {
    const groups = run('one', 0, { 'g/zero': [1, 2], 'g/count': [4, 0] });
    const spec = { title: '', metrics: ['g/zero'], shareOf: 'g/count' };
    expect(chartLines(spec, [groups]).lines[0]?.ys).toEqual([0.25, null]);
  });

  test('seconds that add up to an iteration are those with a share of it', () => {
    const seconds = { 'seconds/collect': [1, 1], 'seconds/tools': [9, 9], 'busy/collect': [1, 1] };
    const spec = { title: '', metrics: ['seconds/*'] };
    const names = (only: NonNullable<ChartSpec['only']>) =>
      labels({ ...spec, only }, run('one', 0, seconds)).map(([label]) => label);
    expect(names('parts of an iteration')).toEqual(['collect']);
    expect(names('sums over episodes')).toEqual(['tools']);
  });
});

test('every metric that a chart names is one that runs record', () => {
  const named = chartGroups.flatMap(({ charts }) =>
    charts.flatMap(({ metrics, shareOf, interval = [] }) => [
      ...metrics.map((name) => name.replace('*', 'any')),
      ...(shareOf === undefined ? [] : [shareOf]),
      ...interval,
    ]),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => metricDefinition(name) === undefined)).toEqual([]);
});
