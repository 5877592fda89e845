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

describe('An axis', () => {
  test('goes from 0 to the last iteration, and for shares from 0 to 1', () => {
    const { x, y, xTicks, yTicks } = axes(chartOf([line([0.5, 0.25])], { isShare: true }));
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

  test('exists without any number', () => {
    const { xTicks, yTicks } = axes(chartOf([line([null, null])]));
    expect(xTicks.map(({ at }) => at)).toEqual([0, 1, 2]);
    expect(yTicks.length).toBeGreaterThan(0);
  });

  test('has ticks that differ from each other, however close they are', () => {
    const { yTicks } = axes(chartOf([line([0.9999995, 1.0000005])]));
    expect(new Set(yTicks.map(({ label }) => label)).size).toBe(yTicks.length);
  });

  test('shows the iterations that the reader zooms in to', () => {
    const look = { ...plainLook, zoom: [1, 2] as const };
    const { axes: zoomed } = drawChart(chartOf([line([5, 6, 7])]), frame, look);
    expect([zoomed.x(1), zoomed.x(2), zoomed.iterationAt(252)]).toEqual([52, 452, 1.5]);
  });
});

describe('the range of an axis', () => {
  test.each([
    ['has room on both sides', 10, 20, [9.2, 20.8]],
    ['does not cross 0 for it', 0.01, 1, [0, 1 + 0.08 * 0.99]],
    ['does not cross 0 from below either', -1, -0.01, [-1 - 0.08 * 0.99, 0]],
    ['of 0 throughout reaches 1', 0, 0, [0, 1]],
    ['of nothing is the same', Infinity, -Infinity, [0, 1]],
    ['of a constant lies around it', 1, 1, [1 - 1e-5, 1 + 1e-5]],
    ['of what differs by rounding is no narrower', 1 - 2e-16, 1, [1 - 1e-5, 1 + 1e-5]],
  ] as const)('%s', (_, low, high, expected) => {
    const [from, to] = rangeOf(low, high, {});
    expect(from).toBeCloseTo(expected[0], 12);
    expect(to).toBeCloseTo(expected[1], 12);
  });

  test('begins at 0 for stacked lines', () => {
    expect(rangeOf(5, 9, { isStacked: true })).toEqual([0, 9]);
  });
});

describe('a curve', () => {
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

  test('is two dots with intervals for two evaluations', () => {
    const measured = line([0.5, 0.5], { xs: [0, 2], low: [0.25, 0.25], high: [0.75, 0.75] });
    // An interval has a line and two ends.
    expect(drawn(chartOf([measured]))).toEqual({ path: '', dots: 2, intervals: 6 });
  });

  test('is an area for many intervals', () => {
    const ys = Array.from({ length: 13 }, () => 0.5);
    const { shapes } = drawChart(chartOf([line(ys, { low: ys, high: ys })]), frame);
    expect(shapes.filter(({ attributes }) => attributes['class'] === 'area c0')).toHaveLength(1);
  });

  test('is the means of neighbours for many points', () => {
    const points = Array.from({ length: 401 }, (_, at): Point => ({
      x: at + 1,
      y: at,
      low: null,
      high: null,
    }));
    const { points: few, each } = thinned(points);
    expect(each).toBe(3);
    expect(few).toHaveLength(134);
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

describe('A drawing', () => {
  const ysOf = (chart: Chart, look = plainLook) => {
    const { curves, notes } = curvesOf(chart, look);
    return { ys: curves.map(({ points }) => points.map(({ y }) => y)), notes };
  };

  test('adds up where it is stacked, the first at the bottom', () => {
    const chart = chartOf([line([3, 1]), line([4, null])], { isStacked: true });
    expect(ysOf(chart).ys).toEqual([
      [3, 1],
      [7, 1],
    ]);
    expect(curvesOf(chart, plainLook).curves[1]?.points[0]).toMatchObject({ low: 3, high: 7 });
  });

  test('leaves out values that a log scale cannot show, and says so', () => {
    expect(ysOf(chartOf([line([0, -1, 2])]), { ...plainLook, isLog: true })).toEqual({
      ys: [[null, null, 2]],
      notes: ['2 values at or below 0 are not shown on a log scale'],
    });
  });

  test('leaves out non-finite values, and says so', () => {
    expect(ysOf(chartOf([line(['NaN', 2])]))).toEqual({
      ys: [[null, 2]],
      notes: ['all: 1 non-finite value omitted (NaN)'],
    });
  });

  test('shows the measured values behind their average', () => {
    const { curves } = curvesOf(chartOf([line([4, 1])]), { ...plainLook, smoothing: 0.5 });
    expect(curves.map(({ isFaint, points }) => [isFaint, points.map(({ y }) => y)])).toEqual([
      [true, [4, 1]],
      [false, [4, 2]],
    ]);
  });
});

describe('smoothing', () => {
  test('begins with the first value and weighs what came before', () => {
    // With weight 0.5: 4; (0.5 · 4 · 0.5 + 0.5 · 1) / 0.75 = (1 + 0.5) / 0.75 = 2.
    expect(smooth([4, 1], 0.5)).toEqual([4, 2]);
  });

  test('leaves what was not measured', () => {
    expect(smooth([null, 4, null, 1], 0.5)).toEqual([null, 4, null, 2]);
  });
});

describe('The colour of a run', () => {
  const listed = Array.from({ length: 10 }, (_, at) => `run${at}`);

  test('stays when another run is laid over', () => {
    expect(runColours(listed, ['run3']).get('run3')).toBe(3);
    expect(runColours(listed, ['run1', 'run3']).get('run3')).toBe(3);
  });

  test('is not shared by two runs that are shown', () => {
    const given = runColours(listed, ['run1', 'run9']);
    expect([given.get('run1'), given.get('run9')]).toEqual([1, 2]);
  });
});
