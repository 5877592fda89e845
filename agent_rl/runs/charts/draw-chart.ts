import { scaleLinear, scaleLog } from 'd3-scale';
import { area, line as pathOf } from 'd3-shape';

import { bytesText, shortNumber } from '../../telemetry/figures.ts';
import { type Chart, valueText } from './chart.ts';
import { type Curve, curvesOf, type Look, plainLook, type Point } from './curves.ts';
import { dashOf, colourClass } from './palette.ts';

/** Edges of a plot, in pixels from the upper left corner. */
export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** An element of an SVG, to be written as markup or made by a component. */
export interface Shape {
  tag: 'path' | 'line' | 'text' | 'circle';
  attributes: Readonly<Record<string, string | number>>;
  /** Of a text, or the title of a dot. */
  text?: string;
}

/** Pixels for each dot; with less room they would overlap. */
const roomOfDot = 8;
/** More intervals than these are drawn without caps. */
const mostWhiskers = 12;

const round = (value: number): number => Math.round(value * 10) / 10;

/** Scales of a chart's plot, and their ticks with text. */
export function axesOf(chart: Chart, curves: readonly Curve[], frame: Frame, look: Look) {
  const { isLog, zoom } = look;
  const points = curves.flatMap((curve) => curve.points);
  const ys = points.flatMap(({ y, low, high }) => [y, low, high]).filter((y) => y !== null);
  const low = ys.reduce((a, b) => Math.min(a, b), Infinity);
  const high = ys.reduce((a, b) => Math.max(a, b), -Infinity);
  const last = points.reduce((most, { x }) => Math.max(most, x), 1);
  const x = scaleLinear([...(zoom ?? [0, last])], [frame.left, frame.right]);
  const ends = [frame.bottom, frame.top];
  const y =
    isLog && !chart.isStacked
      ? scaleLog(ys.length === 0 ? [0.1, 1] : [low, high], ends).nice()
      : scaleLinear(rangeOf(low, high, chart), ends);
  const tickText = y.tickFormat(4);
  const isTiny = y.domain().every((end) => Math.abs(end) < 1e-3);
  const label = (at: number): string =>
    chart.isShare ? `${round(100 * at)} %` : isTiny ? shortNumber(at) : tickText(at);
  return {
    x: (value: number) => round(x(value)),
    y: (value: number) => round(y(value)),
    /** The iteration at a place. */
    iterationAt: (place: number) => x.invert(place),
    xTicks: x
      .ticks(6)
      .filter(Number.isInteger)
      .map((at) => ({ at, label: String(at) })),
    yTicks:
      chart.unit === 'B'
        ? bytesTicks(y.domain())
        : y.ticks(4).map((at) => ({ at, label: label(at) })),
  };
}

/** Round numbers of the largest unit that fits: MiB, not millions of bytes. */
function bytesTicks([low = 0, high = 0]: number[]): { at: number; label: string }[] {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(1, high)) / 10));
  const name = bytesText(unit).split(' ')[1];
  const ticks = scaleLinear([low / unit, high / unit], [0, 1]).ticks(4);
  return ticks.map((at) => ({ at: at * unit, label: `${at} ${name}` }));
}

type Axes = ReturnType<typeof axesOf>;

/** Room above and below, as a share of what lies between. */
const room = 0.08;
/** Every axis spans at least this share of its largest value, so that noise does not look like a change. */
const leastShare = 0.1;
/** And at least this much, by unit. */
const atLeast: Readonly<Record<string, number>> = { reward: 0.1, nats: 1e-4, calls: 1, turns: 1 };

/**
 * The range of an axis around the measured values. Shares go from 0 to 1, or to the chart's own end; stacked values begin at
 * 0; all others have some room, which does not cross 0.
 */
export function rangeOf(
  low: number,
  high: number,
  { isShare, isStacked, shareTo = 1, unit = '' }: Partial<Chart>,
): [number, number] {
  if (isShare) return [Math.min(0, low), Math.max(shareTo, high)];
  if (low > high || (low === 0 && high === 0)) return [0, 1];
  if (isStacked) return [0, high];
  const least = Math.max(atLeast[unit] ?? 0, leastShare * Math.max(-low, high));
  const pad = Math.max(room * (high - low), (least - (high - low)) / 2);
  if (low >= 0) return [Math.max(0, low - pad), Math.max(high + pad, least)];
  if (high <= 0) return [Math.min(low - pad, -least), Math.min(0, high + pad)];
  return [low - pad, high + pad];
}

/** The inside of an SVG: axes and curves of a chart, and what is not drawn. */
export function drawChart(chart: Chart, frame: Frame, look: Look = plainLook) {
  const { curves, notes } = curvesOf(chart, look);
  const axes = axesOf(chart, curves, frame, look);
  const shapes = [
    ...axisShapes(chart, axes, frame),
    ...curves.flatMap((curve) => curveShapes(curve, chart, axes, frame)),
  ];
  return { shapes, axes, notes };
}

const text = (words: string, x: number, y: number, anchor: string): Shape => ({
  tag: 'text',
  attributes: { x, y, 'text-anchor': anchor },
  text: words,
});

function axisShapes({ over }: Chart, axes: Axes, { left, right, bottom }: Frame): Shape[] {
  const across = (y: number, name: string): Shape => ({
    tag: 'line',
    attributes: { class: name, x1: left, x2: right, y1: y, y2: y },
  });
  return [
    ...axes.yTicks.flatMap(({ at, label }) => [
      across(axes.y(at), 'grid'),
      text(label, left - 8, axes.y(at) + 4, 'end'),
    ]),
    across(bottom, 'axis'),
    ...axes.xTicks.map(({ at, label }) => text(label, axes.x(at), bottom + 17, 'middle')),
    text(over, (left + right) / 2, bottom + 34, 'middle'),
  ];
}

type Known = Point & { y: number };
type Bounded = Point & { low: number; high: number };
const isKnown = (point: Point): point is Known => point.y !== null;
const isBounded = (point: Point): point is Bounded => point.low !== null && point.high !== null;

function curveShapes(curve: Curve, chart: Chart, axes: Axes, { left, right }: Frame): Shape[] {
  const { line, points, isFaint } = curve;
  const { isStacked } = chart;
  const colour = colourClass(line.colour);
  const nudge = isStacked ? 0 : nudgeOf(curve, chart);
  const x = (point: Point): number => round(axes.x(point.x) + nudge);
  const known = points.filter(isKnown);
  const bounded = points.filter(isBounded);
  const isSparse = line.isEvaluation === true;
  const path = pathOf<Point>(x, ({ y }) => axes.y(y ?? 0)).defined(isKnown);
  const isArea = isStacked || (!isSparse && bounded.length > mostWhiskers);
  // The interval, and its two caps if there is room.
  const parts = bounded.length > mostWhiskers ? 1 : 3;
  const filled = area<Point>(
    x,
    ({ low }) => axes.y(low ?? 0),
    ({ high }) => axes.y(high ?? 0),
  ).defined(isBounded);
  const hasDots = !isFaint && !isStacked && known.length * roomOfDot <= right - left;
  const dots = hasDots ? known : [];
  return [
    ...(isArea ? [shapeOf('path', { class: `area ${colour}`, d: filled(points) ?? '' })] : []),
    ...(isArea
      ? []
      : bounded.flatMap((point) => whiskers(point, x(point), axes, colour).slice(0, parts))),
    shapeOf('path', {
      class: `line ${colour}${isFaint ? ' faint' : ''}${isSparse ? ' between' : ''}`,
      'stroke-dasharray': dashOf(line.dash),
      d: path(isSparse ? known : points) ?? '',
    }),
    ...dots.map((point) => ({
      tag: 'circle' as const,
      attributes: {
        class: `dot ${colour}`,
        cx: x(point),
        cy: axes.y(point.y),
        r: isSparse ? 4 : 2.5,
      },
      text: `${chart.over} ${point.x}: ${valueText(point.y, chart)}`,
    })),
  ];
}

const shapeOf = (tag: Shape['tag'], attributes: Shape['attributes']): Shape => ({
  tag,
  attributes,
});

/** Moves evaluations of several runs at the same iteration beside each other. */
function nudgeOf({ line }: Curve, { lines }: Chart): number {
  const bounded = lines.filter(({ low }) => low !== undefined);
  const few = bounded.every(({ xs }) => xs.length <= mostWhiskers);
  return line.low === undefined || !few
    ? 0
    : 6 * (bounded.indexOf(line) - (bounded.length - 1) / 2);
}

function whiskers({ low, high }: Bounded, x: number, axes: Axes, colour: string): Shape[] {
  const [from, to] = [axes.y(low), axes.y(high)];
  const part = (x1: number, x2: number, y1: number, y2: number): Shape =>
    shapeOf('line', { class: `interval ${colour}`, x1, x2, y1, y2 });
  return [part(x, x, from, to), part(x - 4, x + 4, from, from), part(x - 4, x + 4, to, to)];
}
