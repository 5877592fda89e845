import type { Measured, Rate, RunHead } from '../../runs/view/api.ts';
import type { Line } from '../charts/plot-data.ts';
import type { MetricTable } from '../data/metric-table.ts';
import type { ShownRun } from './chart-lines.ts';

interface Point {
  x: number;
  y: Measured;
  low: Measured;
  high: Measured;
}

/** Held-out success of a run with its 95 % intervals: before training, at the iterations that measured it, and after. */
export function heldOutLine(run: ShownRun, head: RunHead): Line | undefined {
  const { before = null, after = null } = head.headline ?? {};
  const points = [
    ...(before === null ? [] : [rateAt(0, before)]),
    ...during(run.table),
    ...(after === null ? [] : [rateAt(head.iteration, after)]),
  ];
  const last = new Map(points.map((point) => [point.x, point]));
  const line = [...last.values()].toSorted((one, two) => one.x - two.x);
  if (line.length === 0) return undefined;
  return {
    label: run.name,
    colour: run.colour,
    dash: 0,
    xs: line.map(({ x }) => x),
    ys: line.map(({ y }) => y),
    low: line.map(({ low }) => low),
    high: line.map(({ high }) => high),
  };
}

const rateAt = (x: number, { value, low, high }: Rate): Point => ({ x, y: value, low, high });

function during({ iterations, columns }: MetricTable): Point[] {
  const rates = columns['eval/successRate'] ?? [];
  return iterations
    .map((x, at) => ({
      x,
      y: rates[at] ?? null,
      low: columns['eval/intervalLow']?.[at] ?? null,
      high: columns['eval/intervalHigh']?.[at] ?? null,
    }))
    .filter(({ y }) => y !== null);
}
