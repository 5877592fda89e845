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
/** Label, colour and dash of each line. */
const labels = (spec: ChartSpec, ...runs: ShownRun[]) =>
  chartOf(spec, runs)?.lines.map(({ label, colour, dash }) => `${label} ${colour}/${dash}`);
const names = (title: string, columns: Record<string, number[]>) =>
  chartOf(specOf(title), [run('one', 0, columns)])?.lines.map(({ label }) => label);
const one = run('one', 5, { 'a/x': [1, 2], 'a/y': [3, 4], 'a/z': [0, 0] });
const two = run('two', 6, { 'a/x': [1, 2], 'a/y': [3, 4] });

describe('A chart', () => {
  const spec = { title: '', metrics: ['a/x', 'a/y'] };
  const lacking = run('other', 1, { 'a/y': [1, 2] });

  const single = { ...spec, metrics: ['a/x'] };
  const ofTwo = 'one: x 5/0, one: y 5/1, two: x 6/0, two: y 6/1';
  const stacked = { ...spec, isStacked: true };

  test.each([
    ['a colour for each metric of one run', spec, [one], 'x 0/0, y 1/0'],
    ['a colour for a run, a dash for a metric', spec, [one, two], ofTwo],
    ['one dash for a metric in all', spec, [one, lacking], 'one: x 5/0, one: y 5/1, other: y 1/1'],
    ['names of runs for one metric', single, [one, two], 'one 5/0, two 6/0'],
    ['only the first run if it is stacked', stacked, [one, two], 'x 0/0, y 1/0'],
  ])('has %s', (_, given, runs, expected) => {
    expect(labels(given, ...runs)?.join(', ')).toBe(expected);
  });

  test('shows the components of a reward only if there are several', () => {
    const components = (invalidCalls: number) =>
      names('Reward components', { 'reward/success': [1], 'reward/invalidCalls': [invalidCalls] });
    expect(components(0)).toBeUndefined();
    expect(components(-1)).toEqual(['success', 'invalid calls']);
  });

  test('names members of a family that are always 0 and leaves them out', () => {
    const chart = chartOf({ title: '', metrics: ['a/*'] }, [one]);
    expect(chart?.lines.map(({ label }) => label)).toEqual(['x', 'y']);
    expect(chart?.note).toBe('always 0: z');
  });

  test('divides by another metric, with null where that is 0', () => {
    const groups = run('one', 0, { 'g/zero': [1, 2], 'g/count': [4, 0] });
    const share = { title: '', metrics: ['g/zero'], shareOf: 'g/count' };
    expect(chartOf(share, [groups])?.lines[0]?.ys).toEqual([0.25, null]);
  });

  test('splits seconds into activities of an iteration and time in episodes', () => {
    const seconds = { 'seconds/collect': [1, 1], 'seconds/tools': [9, 9], 'busy/collect': [1, 1] };
    expect(names('Time per iteration by activity', seconds)).toEqual(['collect']);
    expect(names('Total time in episodes', seconds)).toEqual(['tools']);
  });

  test('leaves out rewards if only the environment judges', () => {
    const scores = (columns: Record<string, number[]>) =>
      names('Rewards before weighting', columns);
    expect(scores({ 'score/environment': [0], 'score/search/mrr': [0.5] })).toEqual(['search/mrr']);
    expect(scores({ 'score/environment': [0.5] })).toBeUndefined();
    const agents = { 'score/guesser/environment': [1], 'score/teller/environment': [0] };
    expect(scores(agents)).toBeUndefined();
  });
});

test('the success chart has held-out success before, during and after training', () => {
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
      isEvaluation: true,
      xs: [0, 2, 3],
      ys: [0.1, 0.5, 0.95],
      low: [0.05, 0.2, 0.9],
      high: [0.2, 0.7, 1],
    },
  ]);
});

test('every metric of a chart is one that runs record', () => {
  const recorded = chartGroups.flatMap(({ charts }) =>
    charts.flatMap(({ metrics, shareOf, interval = [] }) => [
      ...metrics.map((name) => name.replace('*', 'any')),
      ...(shareOf === undefined ? [] : [shareOf]),
      ...interval,
    ]),
  );
  expect(recorded.length).toBeGreaterThan(30);
  expect(recorded.filter((name) => metricDefinition(name) === undefined)).toEqual([]);
});
