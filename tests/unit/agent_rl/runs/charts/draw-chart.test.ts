import { describe, expect, test } from '@jest/globals';

import { runColours } from '#agent_rl/page/charts/run-colours.ts';
import { type Chart, describe as wordsOf, type Line } from '#agent_rl/runs/charts/chart.ts';
import { curvesOf, plainLook, type Point, smooth, thinned } from '#agent_rl/runs/charts/curves.ts';
import { axesOf, drawChart, rangeOf } from '#agent_rl/runs/charts/draw-chart.ts';

const line = (ys: Line['ys'], more: Partial<Line> = {}): Line => ({
  label: 'all',
  colour: 0,
  dash: 0,
  xs: ys.map((_, at) => at + 1),
  ys,
  ...more,
});
const chartOf = (lines: readonly Line[], more: Partial<Chart> = {}): Chart => ({
  title: 'X',
  unit: 'things',
  over: 'iteration',
  lines,
  ...more,
});
const frame = { left: 52, right: 452, top: 52, bottom: 252 };
const axes = (chart: Chart) => axesOf(chart, curvesOf(chart, plainLook).curves, frame, plainLook);

describe('axesOf', () => {
  test('goes from 0 to the last iteration, and for shares from 0 to 1', () => {
    const { x, y, xTicks, yTicks } = axes(chartOf([line([0.5, 0.25])], { isShare: true }));
    expect([x(0), x(1), x(2)]).toEqual([52, 252, 452]);
    expect([y(0), y(0.5), y(1)]).toEqual([252, 152, 52]);
    expect(xTicks.map(({ label }) => label)).toEqual(['0', '1', '2']);
    const labels = yTicks.map(({ label }) => label).join(', ');
    expect(labels).toBe('0 %, 20 %, 40 %, 60 %, 80 %, 100 %');
  });

  test('returns axes without any number', () => {
    const { xTicks, yTicks } = axes(chartOf([line([null, null])]));
    expect(xTicks.map(({ at }) => at)).toEqual([0, 1, 2]);
    expect(yTicks.length).toBeGreaterThan(0);
  });

  test('gives ticks different labels, however close they are', () => {
    const { yTicks } = axes(chartOf([line([0.9999995, 1.0000005])]));
    expect(new Set(yTicks.map(({ label }) => label)).size).toBe(yTicks.length);
  });

  test('shows the iterations that the reader zooms in to', () => {
    const look = { ...plainLook, zoom: [1, 2] as const };
    const { axes: zoomed } = drawChart(chartOf([line([5, 6, 7])]), frame, look);
    expect([zoomed.x(1), zoomed.x(2), zoomed.iterationAt(252)]).toEqual([52, 452, 1.5]);
  });
});

describe('The range of an axis', () => {
  test.each([
    ['has room on both sides', 10, 20, [9.2, 20.8]],
    ['does not cross 0 from above', 0.01, 1, [0, 1 + 0.08 * 0.99]],
    ['does not cross 0 from below', -1, -0.01, [-1 - 0.08 * 0.99, 0]],
    ['reaches 1 if all values are 0', 0, 0, [0, 1]],
    ['reaches 1 without values', Infinity, -Infinity, [0, 1]],
    ['spans 10 % of the values around a constant', 1, 1, [0.95, 1.05]],
    ['spans 10 % of the values around noise', 1.002, 1.008, [1.005 - 0.0504, 1.005 + 0.0504]],
  ] as const)('%s', (_, low, high, expected) => {
    const [from, to] = rangeOf(low, high, {});
    expect(from).toBeCloseTo(expected[0], 12);
    expect(to).toBeCloseTo(expected[1], 12);
  });

  test.each([
    ['begins at 0 if values are stacked', [5, 9], { isStacked: true }, [0, 9]],
    ['spans a least amount of a unit', [2e-7, 3e-7], { unit: 'nats' }, [0, 1e-4]],
    ['ends at 1 for shares', [0, 0.02], { isShare: true }, [0, 1]],
    ['ends earlier for small shares', [0, 0.02], { isShare: true, shareTo: 0.1 }, [0, 0.1]],
  ] as const)('%s', (_, [low, high], chart, expected) => {
    expect(rangeOf(low, high, chart)).toEqual(expected);
  });
});

describe('A curve', () => {
  const drawn = (chart: Chart) => {
    const { shapes } = drawChart(chart, frame);
    const count = (name: string) =>
      shapes.filter(({ attributes }) => String(attributes['class']).startsWith(name)).length;
    const path = shapes.find(({ attributes }) => attributes['class'] === 'line c0');
    return { path: path?.attributes['d'], dots: count('dot'), intervals: count('interval') };
  };

  test('is interrupted where there is no number', () => {
    const { path, dots } = drawn(chartOf([line([0, 1, null, 1, 0])], { isShare: true }));
    expect(path).toBe('M132,252L212,52M372,52L452,252');
    expect(dots).toBe(4);
  });

  test('joins evaluations by a dotted line across the iterations between them', () => {
    const interval = { low: [0.25, null, 0.25], high: [0.75, null, 0.75] };
    const more = { xs: [0, 1, 2], ...interval, isEvaluation: true, dash: 2 };
    const chart = chartOf([line([0.5, null, 0.5], more)], { isShare: true });
    const { shapes } = drawChart(chart, frame);
    expect(shapes.find(({ tag }) => tag === 'path')?.attributes).toEqual({
      class: 'line c0 between',
      'stroke-dasharray': '2 3',
      d: 'M52,152L452,152',
    });
    // An interval has a line and two ends.
    expect(drawn(chart)).toMatchObject({ dots: 2, intervals: 6 });
  });

  test('shows many intervals as an area', () => {
    const ys = Array.from({ length: 13 }, () => 0.5);
    const { shapes } = drawChart(chartOf([line(ys, { low: ys, high: ys })]), frame);
    expect(shapes.filter(({ attributes }) => attributes['class'] === 'area c0')).toHaveLength(1);
  });

  test('shows the means of neighbours if there are many points', () => {
    const point = (_: unknown, at: number): Point => ({ x: at + 1, y: at, low: null, high: null });
    const points = Array.from({ length: 401 }, point);
    const { points: few, each } = thinned(points);
    expect([each, few.length]).toEqual([3, 134]);
    expect(few[0]).toMatchObject({ x: 3, y: 1 });
    // 399 and 400 are left for the last.
    expect(few.at(-1)).toMatchObject({ x: 401, y: 399.5 });
    expect(thinned(points.slice(0, 2))).toEqual({ points: points.slice(0, 2), each: 1 });
  });

  test('is described from its first value to its last', () => {
    expect(wordsOf(chartOf([line([null, 2, 3]), line([null])]))).toBe(
      'X. all: from 2 things at iteration 2 to 3 things at iteration 3; all: no values',
    );
  });
});

describe('A chart', () => {
  test('adds up stacked lines, the first at the bottom', () => {
    const chart = chartOf([line([3, 1]), line([4, null])], { isStacked: true });
    const { curves } = curvesOf(chart, plainLook);
    expect(curves.map(({ points }) => points.map(({ y }) => y).join())).toEqual(['3,1', '7,1']);
    expect(curves[1]?.points[0]).toMatchObject({ low: 3, high: 7 });
  });

  test.each([
    ['a log scale cannot show', [0, -1, 2], [null, null, 2], /^2 values at or below 0 /],
    ['are not finite', ['NaN', 2], [null, 2], /^all: 1 non-finite value omitted \(NaN\)$/],
  ] as const)('names values that %s', (_, values, ys, note) => {
    const { curves, notes } = curvesOf(chartOf([line(values)]), { ...plainLook, isLog: true });
    expect(curves[0]?.points.map(({ y }) => y)).toEqual(ys);
    expect(notes).toEqual([expect.stringMatching(note)]);
  });

  test('shows the measured values behind their average', () => {
    const { curves } = curvesOf(chartOf([line([4, 1])]), { ...plainLook, smoothing: 0.5 });
    expect(curves.map(({ isFaint, points }) => [isFaint, points.map(({ y }) => y)])).toEqual([
      [true, [4, 1]],
      [false, [4, 2]],
    ]);
  });
});

test('smoothing begins with the first measured value and weighs what came before', () => {
  // With weight 0.5: 4; (0.5 · 4 · 0.5 + 0.5 · 1) / 0.75 = (1 + 0.5) / 0.75 = 2.
  expect(smooth([null, 4, null, 1], 0.5)).toEqual([null, 4, null, 2]);
});

test('a run keeps its colour when another is added, and those on the charts differ', () => {
  const listed = Array.from({ length: 10 }, (_, at) => `run${at}`);
  const colours = (...shown: string[]) => shown.map((name) => runColours(listed, shown).get(name));
  expect(colours('run3')).toEqual([3]);
  expect(colours('run1', 'run3')).toEqual([1, 3]);
  expect(colours('run1', 'run9')).toEqual([1, 2]);
});
