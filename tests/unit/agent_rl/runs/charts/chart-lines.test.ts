import { describe, expect, test } from '@jest/globals';

import { chartOf, type ShownRun } from '#agent_rl/runs/charts/chart-lines.ts';
import { chartGroups, type ChartSpec } from '#agent_rl/runs/charts/chart-specs.ts';
import { metricDefinition } from '#agent_rl/telemetry/metric-names.ts';

const run = (
  name: string,
  colour: number,
  columns: Record<string, number[]>,
  more: Partial<ShownRun> = {},
): ShownRun => {
  const [values = []] = Object.values(columns);
  const iterations = values.map((_, at) => at + 1);
  const table = { iterations, columns, units: {}, meanings: {} };
  return { name, colour, heldOut: null, iteration: 3, isSupervised: false, table, ...more };
};
const specOf = (title: string): ChartSpec =>
  chartGroups.flatMap(({ charts }) => charts).find((one) => one.title === title) ?? {
    title,
    metrics: [],
  };
const labels = (spec: ChartSpec, ...runs: ShownRun[]) =>
  chartOf(spec, runs)?.lines.map(({ label, colour, dash }) => [label, colour, dash]);
const one = run('one', 5, { 'a/x': [1, 2], 'a/y': [3, 4], 'a/z': [0, 0] });
const two = run('two', 6, { 'a/x': [1, 2], 'a/y': [3, 4] });

describe('A chart', () => {
  test('gives each metric of one run a colour', () => {
    expect(labels({ title: '', metrics: ['a/x', 'a/y'] }, one)).toEqual([
      ['x', 0, 0],
      ['y', 1, 0],
    ]);
  });

  test('gives each run a colour and each of several metrics a dash', () => {
    expect(labels({ title: '', metrics: ['a/x', 'a/y'] }, one, two)).toEqual([
      ['one: x', 5, 0],
      ['one: y', 5, 1],
      ['two: x', 6, 0],
      ['two: y', 6, 1],
    ]);
  });

  test('gives a metric the same dash in all runs, also where a run lacks it', () => {
    const other = run('other', 1, { 'a/y': [1, 2] });
    expect(labels({ title: '', metrics: ['a/x', 'a/y'] }, one, other)).toEqual([
      ['one: x', 5, 0],
      ['one: y', 5, 1],
      ['other: y', 1, 1],
    ]);
  });

  test('labels lines with the run where it has one metric', () => {
    expect(labels({ title: '', metrics: ['a/x'] }, one, two)).toEqual([
      ['one', 5, 0],
      ['two', 6, 0],
    ]);
  });

  test('leaves out members of a family that are 0 throughout, and names them', () => {
    const chart = chartOf({ title: '', metrics: ['a/*'] }, [one]);
    expect(chart?.lines.map(({ label }) => label)).toEqual(['x', 'y']);
    expect(chart?.note).toBe('always 0: z');
  });

  test('shows only the first run where lines are stacked', () => {
    expect(labels({ title: '', metrics: ['a/x'], isStacked: true }, one, two)).toHaveLength(1);
  });

  test('shows shares of another metric, and null where that is 0', () => {
    const groups = run('one', 0, { 'g/zero': [1, 2], 'g/count': [4, 0] });
    const spec = { title: '', metrics: ['g/zero'], shareOf: 'g/count' };
    expect(chartOf(spec, [groups])?.lines[0]?.ys).toEqual([0.25, null]);
  });

  test('stacks the seconds that are parts of an iteration', () => {
    const seconds = { 'seconds/collect': [1, 1], 'seconds/tools': [9, 9], 'busy/collect': [1, 1] };
    const names = (title: string) =>
      labels(specOf(title), run('one', 0, seconds))?.map(([label]) => label);
    expect(names('Time per activity')).toEqual(['collect']);
    expect(names('Time in episodes, summed over parallel episodes')).toEqual(['tools']);
  });

  test('has no lines of rewards where only the environment judges', () => {
    const scores = (columns: Record<string, number[]>) =>
      labels(specOf('Rewards before weighting'), run('one', 0, columns))?.map(([label]) => label);
    expect(scores({ 'score/environment': [0], 'score/search/mrr': [0.5] })).toEqual(['search/mrr']);
    expect(scores({ 'score/environment': [0.5] })).toBeUndefined();
    expect(
      scores({ 'score/guesser/environment': [1], 'score/teller/environment': [0] }),
    ).toBeUndefined();
  });
});

test('takes held-out success from before and after training and from metrics in between', () => {
  const rate = (value: number, low: number, high: number) => ({ value, low, high, n: 20 });
  const columns = {
    'eval/successRate': [null, 0.5, 0.95],
    'eval/intervalLow': [null, 0.2, 0],
    'eval/intervalHigh': [null, 0.7, 0],
  } as unknown as Record<string, number[]>;
  const heldOut = { before: rate(0.1, 0.05, 0.2), after: rate(0.95, 0.9, 1) };
  const chart = chartOf(specOf('Success'), [run('one', 0, columns, { heldOut })]);
  expect(chart?.lines).toMatchObject([
    {
      label: 'held-out tasks, 95 % interval',
      xs: [0, 2, 3],
      ys: [0.1, 0.5, 0.95],
      low: [0.05, 0.2, 0.9],
      high: [0.2, 0.7, 1],
    },
  ]);
});

test('names only metrics that runs record', () => {
  const names = chartGroups.flatMap(({ charts }) =>
    charts.flatMap(({ metrics, shareOf, interval = [] }) => [
      ...metrics.map((name) => name.replace('*', 'any')),
      ...(shareOf === undefined ? [] : [shareOf]),
      ...interval,
    ]),
  );
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => metricDefinition(name) === undefined)).toEqual([]);
});
