import { scaleLinear } from 'd3-scale';
import { line as curve } from 'd3-shape';

import { markup, type Markup } from '../render/markup.ts';
import type { Chart, Line, Point } from './chart.ts';
import { colours } from './chart-styles.ts';
import { legendRowHeight, legendRows } from './legend.ts';

export interface Size {
  width: number;
  height: number;
}

/** Room around the plot, without the legend. */
const margin = { left: 52, right: 16, top: 34, bottom: 40 };
/** With more, dots would run into one another. */
const mostDots = 60;
const dashes = ['none', '6 4', '2 3', '8 3 2 3', '12 4', '1 5', '8 3 2 3 2 3', '12 3 4 3'];

const round = (value: number): number => Math.round(value * 10) / 10;

const finite = (values: readonly (number | null | undefined)[]): number[] =>
  values.filter((value): value is number => typeof value === 'number' && Number.isFinite(value));

/** What the axes go over, 0 among them. */
function domainsOf({ lines, share }: Chart) {
  const points = lines.flatMap((line) => line.points);
  const xs = finite(points.map(({ x }) => x));
  const ys = finite(points.flatMap(({ y, low, high }) => [y, low, high]));
  const lastX = xs.reduce((a, b) => Math.max(a, b), 1);
  const range = (least: number): [number, number] => [
    ys.reduce((a, b) => Math.min(a, b), 0),
    ys.reduce((a, b) => Math.max(a, b), least),
  ];
  return { x: [0, lastX] as const, y: range(share === true ? 1 : 0) };
}

/** Room that the legend of a chart takes above the plot. */
export const legendHeight = (chart: Chart, width: number): number =>
  legendRowHeight * legendRows(chart, width - margin.left - margin.right).length;

/** Scales of a chart's plot, and their ticks with text. */
export function axesOf(chart: Chart, { width, height }: Size) {
  const domains = domainsOf(chart);
  const top = margin.top + legendHeight(chart, width);
  const x = scaleLinear(domains.x, [margin.left, width - margin.right]);
  const y = scaleLinear(domains.y, [height - margin.bottom, top]).nice(4);
  const yText = y.tickFormat(4);
  return {
    x: (value: number) => round(x(value)),
    y: (value: number) => round(y(value)),
    xTicks: x
      .ticks(6)
      .filter(Number.isInteger)
      .map((at) => ({ at, label: String(at) })),
    yTicks: y
      .ticks(4)
      .map((at) => ({ at, label: chart.share === true ? `${round(100 * at)} %` : yText(at) })),
  };
}

type Axes = ReturnType<typeof axesOf>;

const isKnown = (point: Point): point is Point & { y: number } =>
  point.y !== null && Number.isFinite(point.y);

/** Whether a curve is drawn through, or how it is dashed. */
const dashing = (dash: number): string => dashes[dash % dashes.length] ?? 'none';

/** Evaluations of several runs at the same iteration stand beside each other. */
function besides(axes: Axes, line: Line, { lines }: Chart): Axes {
  const measured = lines.filter((one) => one.measured);
  const place = measured.indexOf(line);
  const nudge = place < 0 ? 0 : 6 * (place - (measured.length - 1) / 2);
  return { ...axes, x: (value) => round(axes.x(value) + nudge) };
}

function lineMarkup(line: Line, chart: Chart, axes: Axes): Markup {
  const { dash, measured, points } = line;
  const colour = line.colour % colours;
  const path = curve<Point>(
    ({ x }) => axes.x(x),
    ({ y }) => axes.y(y ?? 0),
  ).defined(isKnown);
  const known = points.filter(isKnown);
  const dots = known.length > mostDots ? [] : known;
  const radius = measured ? 4 : 2.5;
  // What lay between two evaluations is not known: a line would say that it rose steadily.
  const d = measured && known.length < 3 ? '' : (path(points) ?? '');
  return markup`<path class="line l${colour}" stroke-dasharray="${dashing(dash)}" d="${d}"/>
${known.flatMap((point) => intervalMarkup(point, colour, axes))}
${dots.map(({ x, y }) => {
  const tip = `${chart.over} ${x}: ${valueText(y, chart)}`;
  return markup`<circle class="d${colour}" cx="${axes.x(x)}" cy="${axes.y(y)}" r="${radius}"><title>${tip}</title></circle>`;
})}`;
}

function intervalMarkup({ x, low, high }: Point, colour: number, axes: Axes): Markup[] {
  if (low === undefined || high === undefined) return [];
  const [at, from, to] = [axes.x(x), axes.y(low), axes.y(high)];
  return [
    markup`<line class="interval l${colour}" x1="${at}" x2="${at}" y1="${from}" y2="${to}"/>`,
    ...[from, to].map(
      (end) =>
        markup`<line class="interval l${colour}" x1="${at - 4}" x2="${at + 4}" y1="${end}" y2="${end}"/>`,
    ),
  ];
}

const valueText = (value: number, { share, unit }: Chart): string =>
  share === true ? `${(100 * value).toFixed(1)} %` : `${Number(value.toPrecision(4))} ${unit}`;

/** What a chart shows, for those who do not see it: each curve from its first value to its last. */
export function describe(chart: Chart): string {
  const curves = chart.lines.map(({ name, points }) => {
    const known = points.filter(isKnown);
    const [first, last] = [known[0], known.at(-1)];
    if (first === undefined || last === undefined) return `${name}: no values.`;
    const ends = [first, last].map(({ x, y }) => `${valueText(y, chart)} at ${chart.over} ${x}`);
    return `${name}: from ${ends.join(' to ')}.`;
  });
  return [`${chart.title}, by ${chart.over}.`, ...curves].join(' ');
}

/** The inside of an SVG: title, legend, axes and curves of a chart. */
export function drawChart(chart: Chart, size: Size): Markup {
  const axes = axesOf(chart, size);
  const { width, height } = size;
  const [left, right, bottom] = [margin.left, width - margin.right, height - margin.bottom];
  return markup`<text class="heading" x="${left}" y="18">${chart.title}, ${chart.unit}</text>
${legendMarkup(chart, left, right - left)}
${axes.yTicks.map(({ at, label }) => {
  const y = axes.y(at);
  return markup`<line class="grid" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/><text x="${left - 8}" y="${y}" dy="4" text-anchor="end">${label}</text>`;
})}
<line class="axis" x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>
${axes.xTicks.map(({ at, label }) => markup`<text x="${axes.x(at)}" y="${bottom + 17}" text-anchor="middle">${label}</text>`)}
<text x="${(left + right) / 2}" y="${bottom + 34}" text-anchor="middle">${chart.over}</text>
${chart.lines.map((line) => lineMarkup(line, chart, besides(axes, line, chart)))}`;
}

function legendMarkup(chart: Chart, left: number, width: number): Markup[] {
  return legendRows(chart, width).flatMap((row, place) =>
    row.map(({ name, colour, dash, measured, x }) => {
      const [from, y] = [left + x, margin.top - 1 + legendRowHeight * place];
      const shade =
        colour === undefined ? ['axis', 'soft'] : [`l${colour % colours}`, `d${colour % colours}`];
      const dot = measured
        ? [markup`<circle class="${shade[1] ?? ''}" cx="${from + 9}" cy="${y}" r="4"/>`]
        : [];
      return markup`<line class="line ${shade[0] ?? ''}" stroke-dasharray="${dashing(dash)}" x1="${from}" x2="${from + 18}" y1="${y}" y2="${y}"/>${dot}<text x="${from + 24}" y="${y + 4}">${name}</text>`;
    }),
  );
}
