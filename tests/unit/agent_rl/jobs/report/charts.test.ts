import { describe, expect, test } from '@jest/globals';
import { parseHTML } from 'linkedom';

import { type Chart, type Point, thinned } from '#agent_rl/jobs/report/charts/chart.ts';
import { axesOf, drawChart } from '#agent_rl/jobs/report/charts/chart-svg.ts';
import { legendRows } from '#agent_rl/jobs/report/charts/legend.ts';
import { heldOutPoints, runCharts } from '#agent_rl/jobs/report/charts/run-charts.ts';
import { readReportedRun } from '#agent_rl/jobs/report/read/reported-run.ts';
import { type Picture, svgReport } from '#agent_rl/jobs/report/render/svg-report.ts';
import { readDocument } from '#tests/support/markdown.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { writeRun } from '#tests/support/written-run.ts';

const folder = temporaryFolder();

const chartOf = (points: Point[], more: Partial<Chart> = {}): Chart => ({
  name: 'x',
  title: 'X',
  unit: 'things',
  over: 'iteration',
  lines: [{ name: 'all', colour: 0, dash: 0, measured: false, points }],
  ...more,
});
const points = (...ys: (number | null)[]): Point[] => ys.map((y, index) => ({ x: index + 1, y }));
// 52 of 468 pixels are left of the plot and 16 right of it, 34 above, 18 the legend's, and 40 below.
const size = { width: 468, height: 292 };

describe('the axes of a chart', () => {
  test('go from 0 to the last iteration, and of shares from 0 to 1', () => {
    const { x, y, xTicks, yTicks } = axesOf(chartOf(points(0.5, 0.25), { share: true }), size);
    expect([x(0), x(1), x(2)]).toEqual([52, 252, 452]);
    expect([y(0), y(0.5), y(1)]).toEqual([252, 152, 52]);
    expect(xTicks.map(({ label }) => label)).toEqual(['0', '1', '2']);
    expect(yTicks.map(({ label }) => label)).toEqual([
      '0 %',
      '20 %',
      '40 %',
      '60 %',
      '80 %',
      '100 %',
    ]);
  });

  test('end at round numbers, below 0 too', () => {
    const { yTicks } = axesOf(chartOf(points(-0.9, 2.7)), size);
    expect(yTicks.map(({ at }) => at)).toEqual([-1, 0, 1, 2, 3]);
  });

  test('are there without any number', () => {
    const { xTicks, yTicks } = axesOf(chartOf(points(null, null)), size);
    expect(xTicks.map(({ at }) => at)).toEqual([0, 1, 2]);
    expect(yTicks.length).toBeGreaterThan(0);
  });
});

describe('a curve', () => {
  const drawn = (chart: Chart) => {
    const { document } = parseHTML(`<svg>${drawChart(chart, size).text}</svg>`);
    return {
      path: document.querySelector('path')?.getAttribute('d'),
      dots: document.querySelectorAll('circle').length,
      intervals: document.querySelectorAll('.interval').length,
    };
  };

  test('is interrupted where there is no number', () => {
    const { path, dots } = drawn(chartOf(points(0, 1, null, 1, 0), { share: true }));
    expect(path).toBe('M132,252L212,52M372,52L452,252');
    expect(dots).toBe(4);
  });

  test('of two evaluations is two dots with intervals: nothing is known of what lay between', () => {
    const measured = [0, 2].map((x) => ({ x, y: 0.5, low: 0.25, high: 0.75 }));
    const [line] = chartOf(measured).lines;
    const chart = chartOf(measured, {
      lines: line === undefined ? [] : [{ ...line, measured: true }],
    });
    // The legend has a dot too; an interval has a line and two ends.
    expect(drawn(chart)).toEqual({ path: '', dots: 3, intervals: 6 });
  });

  test('of many points is the means of neighbours', () => {
    const { points: few, each } = thinned(points(...Array.from({ length: 401 }, (_, i) => i)));
    expect(each).toBe(3);
    expect(few).toHaveLength(134);
    expect(few[0]).toEqual({ x: 3, y: 1 });
    // 399 and 400 are left for the last.
    expect(few.at(-1)).toEqual({ x: 401, y: 399.5 });
    expect(thinned(points(1, 2))).toEqual({ points: points(1, 2), each: 1 });
  });
});

test('a legend breaks where a row is full, and cuts long names', () => {
  const lines = ['a'.repeat(60), 'b', 'c'].map((name, colour) => ({
    name,
    colour,
    dash: 0,
    measured: false,
    points: [],
  }));
  const rows = legendRows(chartOf([], { lines }), 400);
  expect(rows.map((row) => row.map(({ name }) => name))).toEqual([
    [`${'a'.repeat(44)}…`, 'b'],
    ['c'],
  ]);
});

describe('success on held-out tasks', () => {
  const evaluation = (successRate: number, more: object = {}) => ({
    n: 20,
    successes: 20 * successRate,
    successRate,
    wilson95: [0, 1],
    ...more,
  });

  test('is that of the summary at both ends and of the metrics between them', async () => {
    const run = writeRun(folder, 'new', {
      summary: {
        iterations: 3,
        eval: {
          before: evaluation(0.1, { interval95: { low: 0.05, high: 0.2 } }),
          after: evaluation(0.95, { interval95: { low: 0.9, high: 1 } }),
        },
      },
      metrics: [
        {},
        { 'eval/successRate': 0.5, 'eval/intervalLow': 0.2, 'eval/intervalHigh': 0.7 },
        { 'eval/successRate': 0.95, 'eval/intervalLow': 0, 'eval/intervalHigh': 0 },
      ],
    });
    expect(heldOutPoints(await readReportedRun(run))).toEqual([
      { x: 0, y: 0.1, low: 0.05, high: 0.2 },
      { x: 2, y: 0.5, low: 0.2, high: 0.7 },
      { x: 3, y: 0.95, low: 0.9, high: 1 },
    ]);
  });
});

describe('rewards', () => {
  const chartsOf = async (name: string, ...runs: Record<string, number>[]) =>
    runCharts(
      await Promise.all(
        runs.map((metrics, at) =>
          readReportedRun(writeRun(folder, `${name}-${at}`, { metrics: [metrics] })),
        ),
      ),
    ).find((chart) => chart.name === 'rewards');

  test('have a curve each', async () => {
    const chart = await chartsOf('each', {
      'score/environment': 0,
      'score/search/mrr': 0.5,
      'score/format': 1,
    });
    const drawn = chart?.lines.map(({ name, points: [point] }) => [name, point?.y]);
    expect(new Map(drawn as [string, number][])).toEqual(
      new Map([
        ['environment', 0],
        ['search/mrr', 0.5],
        ['format', 1],
      ]),
    );
  });

  test('have the same look in all runs, also where a run has others', async () => {
    const chart = await chartsOf(
      'runs',
      { 'score/format': 1 },
      { 'score/f1': 0.5, 'score/format': 0 },
    );
    const looks = chart?.lines.map(({ name, colour, dash }) => ({ name, colour, dash }));
    const dashOf = (of: string) => looks?.find(({ name }) => name === of)?.dash;
    expect(dashOf('runs-0, format')).toEqual(expect.any(Number));
    expect(dashOf('runs-0, format')).toBe(dashOf('runs-1, format'));
    expect(dashOf('runs-1, f1')).not.toBe(dashOf('runs-1, format'));
  });

  test('have none where only the environment judges', async () => {
    expect(await chartsOf('alone', { 'score/environment': 0.5 })).toBeUndefined();
    const agents = { 'score/guesser/environment': 1, 'score/teller/environment': 0 };
    expect(await chartsOf('agents', agents)).toBeUndefined();
  });
});

test('numbers that are not finite are not drawn, and it is said how many', async () => {
  const run = writeRun(folder, 'diverged', {
    metrics: [1, Number.NaN, Infinity].map((value) => ({ 'rollout/rewardMean': value })),
  });
  const [chart] = runCharts([await readReportedRun(run)]);
  expect(chart?.lines[0]?.points).toEqual(points(1, null, null));
  expect(chart?.note).toBe('2 values are no finite numbers and not drawn.');
});

test('the picture in the README is drawn from what it holds', () => {
  const svg = readDocument('docs/images/workspace_grpo-seed1.svg');
  const { document } = parseHTML(svg);
  const picture = JSON.parse(document.querySelector('metadata')?.textContent ?? '') as Picture;
  expect(picture.charts.length).toBeGreaterThan(1);
  expect(svgReport(picture)).toBe(svg);
});
