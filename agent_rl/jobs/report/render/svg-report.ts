import { largest } from '../../../core/long-lists.ts';
import { type Chart, describe } from '../../../runs/charts/chart.ts';
import { chartMarkup, chartStyles, legendHeight, type Size } from './chart-markup.ts';
import { markup, Markup } from './markup.ts';

/** The first chart has the whole width, those after it share rows of three. */
const [width, perRow] = [960, 3];
/** Without legends. */
const [wideHeight, smallHeight] = [320, 205];
const heading = 30;

/** A picture of curves. What it is drawn from stands in its `<metadata>`. */
export interface Picture {
  title: string;
  charts: readonly Chart[];
}

/** An SVG of all curves, readable on light and dark backgrounds. */
export function svgReport({ title, charts }: Picture): string {
  const data = JSON.stringify({ title, charts } satisfies Picture);
  const { placed, height } = placesOf(charts);
  const drawn = placed.map(
    ({ chart, x, y, size }) =>
      markup`<g transform="translate(${x} ${y})">${chartMarkup(chart, size)}</g>`,
  );
  const picture = markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${title}</title>
<desc id="description">${charts.map(describe).join(' ')}</desc>
<metadata>${data}</metadata>
<style>${new Markup(chartStyles)}</style>
<text class="heading" x="52" y="20">${title}</text>
${drawn}
</svg>
`;
  return picture.text;
}

interface Placed {
  chart: Chart;
  x: number;
  y: number;
  size: Size;
}

/** Where each chart stands; charts of a row are as high as the one with the longest legend. */
function placesOf([first, ...others]: readonly Chart[]): { placed: Placed[]; height: number } {
  const rows = Array.from({ length: Math.ceil(others.length / perRow) }, (_, row) =>
    others.slice(row * perRow, (row + 1) * perRow),
  );
  const placed: Placed[] = [];
  let y = heading;
  for (const row of [first === undefined ? [] : [first], ...rows]) {
    const each = placed.length === 0 ? width : width / perRow;
    const legends = row.map((chart) => legendHeight(chart, each));
    const height = (placed.length === 0 ? wideHeight : smallHeight) + largest(legends, 0);
    const size = { width: each, height };
    for (const [column, chart] of row.entries()) placed.push({ chart, x: column * each, y, size });
    y += height;
  }
  return { placed, height: y };
}
