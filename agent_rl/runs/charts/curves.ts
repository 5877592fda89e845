import { countText } from '../../telemetry/figures.ts';
import type { Measured } from '../view/api.ts';
import { type Chart, isNumber, type Line } from './chart.ts';

/** How the reader wants to see a chart. */
export interface Look {
  /** Weight of what came before, see `smooth`. */
  smoothing: number;
  isLog: boolean;
  /** Iterations shown; null for all. */
  zoom: readonly [number, number] | null;
}

export const plainLook: Look = { smoothing: 0, isLog: false, zoom: null };

/** A place of a curve; null where there is no number to draw. */
export interface Point {
  x: number;
  y: number | null;
  /** Ends of an interval, or of a part of a whole. */
  low: number | null;
  high: number | null;
}

/** What is drawn of a line. */
export interface Curve {
  line: Line;
  /** As it was measured, behind its average. */
  isFaint: boolean;
  points: readonly Point[];
}

/** The curves of a chart, and what is not drawn of its lines. */
export function curvesOf(
  { lines, isStacked, note }: Chart,
  { smoothing, isLog, zoom }: Look,
): { curves: Curve[]; notes: string[] } {
  const isLeftOut = (value: number): boolean => isLog && !isStacked && value <= 0;
  const drawable = (value: Measured | undefined): number | null =>
    isNumber(value) && !isLeftOut(value) ? value : null;
  const notes = lines.flatMap(({ label, ys }) => {
    const odd = ys.filter((value) => value !== null && !isNumber(value));
    const names = [...new Set(odd)].join(', ');
    return odd.length === 0
      ? []
      : [`${label}: ${countText(odd.length, 'non-finite value')} omitted (${names})`];
  });
  const dropped = lines.flatMap(({ ys }) => ys.filter(isNumber)).filter(isLeftOut).length;
  if (dropped > 0) notes.push(`${dropped} values at or below 0 are not shown on a log scale`);
  if (note !== undefined) notes.push(note);
  const below = new Map<number, number>();
  let neighbours = 1;
  const curves = lines.flatMap((line) => {
    let points = line.xs.map((x, at): Point => {
      const y = drawable(line.ys[at]);
      return { x, y, low: drawable(line.low?.[at]), high: drawable(line.high?.[at]) };
    });
    if (isStacked) points = points.map((point) => stackedOn(below, point));
    // An average would lie outside of the interval of what was measured.
    const weight = line.low === undefined && !isStacked ? smoothing : 0;
    const averages = smooth(
      points.map(({ y }) => y),
      weight,
    );
    const smoothed = points.map((point, at) => ({ ...point, y: averages[at] ?? null }));
    const drawn = weight > 0 ? [points, smoothed] : [smoothed];
    return drawn.map((all, at): Curve => {
      const shown = all.filter(({ x }) => zoom === null || (x >= zoom[0] && x <= zoom[1]));
      const { points: few, each } = thinned(shown);
      neighbours = Math.max(neighbours, each);
      return { line, isFaint: at < drawn.length - 1, points: few };
    });
  });
  if (neighbours > 1) notes.push(`Each point is the mean of ${neighbours} neighbours.`);
  return { curves, notes };
}

/** A part of a whole on top of those before it. */
function stackedOn(below: Map<number, number>, { x, y }: Point): Point {
  const low = below.get(x) ?? 0;
  const high = low + (y ?? 0);
  below.set(x, high);
  return { x, y: high, low, high };
}

/**
 * Exponential moving average with the weight of what came before, corrected for its start as Adam's moments are: the first
 * value is itself. What was not measured stays so and leaves the average alone.
 *
 * @param weight from 0, which changes nothing, to below 1
 */
export function smooth(
  values: readonly (number | null)[],
  weight: number,
): readonly (number | null)[] {
  if (weight === 0) return values;
  let [sum, mass] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return sum / mass;
  });
}

const mostPoints = 200;

/** At most 200 points, each the mean of as many neighbours as it takes, and how many those are. */
export function thinned(points: readonly Point[]): { points: readonly Point[]; each: number } {
  const each = Math.ceil(points.length / mostPoints);
  if (each <= 1) return { points, each: 1 };
  const groups = Array.from({ length: Math.ceil(points.length / each) }, (_, group) =>
    points.slice(group * each, (group + 1) * each),
  );
  return { points: groups.map(meanPoint), each };
}

const meanPoint = (group: readonly Point[]): Point => ({
  x: group.at(-1)?.x ?? 0,
  y: meanOf(group.map(({ y }) => y)),
  low: meanOf(group.map(({ low }) => low)),
  high: meanOf(group.map(({ high }) => high)),
});

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length;
}
