import { describe, expect, test } from '@jest/globals';

import { runColours } from '#agent_rl/page/charts/palette.ts';
import { type Line, plotData, smooth } from '#agent_rl/page/charts/plot-data.ts';
import { rangeOf } from '#agent_rl/page/charts/range-of.ts';
import { wilson } from '#agent_rl/page/overview/slice-lines.ts';

const line = (xs: number[], ys: Line['ys'], more: Partial<Line> = {}): Line => ({
  label: 'line',
  colour: 0,
  dash: 0,
  xs,
  ys,
  ...more,
});
const plain = { smoothing: 0, isLog: false, isStacked: false };

describe('lines on one axis', () => {
  test('each has a gap where only others were measured', () => {
    const plot = plotData([line([1, 2], [10, 20]), line([2, 3], [5, 6])], plain);
    expect(plot.xs).toEqual([1, 2, 3]);
    expect(plot.series.map(({ ys }) => ys)).toEqual([
      [10, 20, null],
      [null, 5, 6],
    ]);
  });

  test('an interval is an area between two edges', () => {
    const plot = plotData([line([1], [0.5], { low: [0.4], high: [0.6] })], plain);
    expect(plot.series.map(({ kind, ys }) => [kind, ys])).toEqual([
      ['edge', [0.6]],
      ['edge', [0.4]],
      ['raw', [0.5]],
    ]);
    expect(plot.bands).toEqual([[0, 1]]);
  });

  test('what is stacked adds up, the first at the bottom', () => {
    const plot = plotData([line([1, 2], [3, 1]), line([1, 2], [4, null])], {
      ...plain,
      isStacked: true,
    });
    expect(plot.series.map(({ ys }) => ys)).toEqual([
      [3, 1],
      [7, 1],
    ]);
    expect(plot.bands).toEqual([[1, 0]]);
  });

  test('what a log scale cannot show is left out and said', () => {
    const plot = plotData([line([1, 2, 3], [0, -1, 2])], { ...plain, isLog: true });
    expect(plot.series[0]?.ys).toEqual([null, null, 2]);
    expect(plot.notes).toEqual(['2 at or below 0: not on a log scale']);
  });

  test('what is not finite is left out and said, and stays in the legend', () => {
    const plot = plotData([line([1, 2], ['NaN', 2])], plain);
    expect(plot.series[0]?.ys).toEqual([null, 2]);
    expect(plot.values[0]).toEqual(['NaN', 2]);
    expect(plot.notes).toEqual(['line: 1 not finite (NaN)']);
  });
});

describe('the range of an axis', () => {
  test.each([
    ['has room on both sides', 10, 20, [9.2, 20.8]],
    ['does not cross 0 for it', 0.01, 1, [0, 1 + 0.08 * 0.99]],
    ['does not cross 0 from below either', -1, -0.01, [-1 - 0.08 * 0.99, 0]],
    ['of 0 throughout reaches 1', 0, 0, [0, 1]],
    ['of nothing is the same', null, null, [0, 1]],
    ['of a constant lies around it', 1, 1, [1 - 1e-5, 1 + 1e-5]],
    ['of what differs by rounding is no narrower', 1 - 2e-16, 1, [1 - 1e-5, 1 + 1e-5]],
  ] as const)('%s', (_, low, high, expected) => {
    const [from, to] = rangeOf(low, high, false);
    expect(from).toBeCloseTo(expected[0], 12);
    expect(to).toBeCloseTo(expected[1], 12);
  });

  test('of what is stacked begins at 0', () => {
    expect(rangeOf(5, 9, true)).toEqual([0, 9]);
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

test("Wilson's interval of 5 in 10 is 23.7 % to 76.3 %", () => {
  const [low, high] = wilson(5, 10);
  expect(low).toBeCloseTo(0.2366, 4);
  expect(high).toBeCloseTo(0.7634, 4);
  expect(wilson(0, 0)).toEqual([0, 1]);
});

describe('colours of runs', () => {
  const listed = Array.from({ length: 10 }, (_, at) => `run${at}`);

  test('stay when another run is laid over', () => {
    expect(runColours(listed, ['run3']).get('run3')).toBe(3);
    expect(runColours(listed, ['run1', 'run3']).get('run3')).toBe(3);
  });

  test('are not shared by two that are shown', () => {
    const given = runColours(listed, ['run1', 'run9']);
    expect([given.get('run1'), given.get('run9')]).toEqual([1, 2]);
  });
});
