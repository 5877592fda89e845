import { type Chart, shownUnit } from '../../../runs/charts/chart.ts';
import { drawChart, type Shape } from '../../../runs/charts/draw-chart.ts';
import { colourClass, dashOf, palette } from '../../../runs/charts/palette.ts';
import { markup, Markup } from './markup.ts';

export interface Size {
  width: number;
  height: number;
}

/** Room around the plot, without the legend. */
const margin = { left: 52, right: 16, top: 34, bottom: 40 };
/** About the width of a character; its font is not known here. */
const characterWidth = 6.6;
const mostCharacters = 44;
const legendRowHeight = 18;

/** Room that the legend of a chart takes above the plot. */
export const legendHeight = (chart: Chart, width: number): number =>
  legendRowHeight * legendRows(chart, width - margin.left - margin.right).length;

/** Names of lines and their places from the left end of the plot, in rows that fit a width. */
export function legendRows({ lines }: Chart, width: number) {
  const rows: { label: string; colour: number; dash: number; x: number }[][] = [];
  let x = width;
  for (const { label: whole, colour, dash } of lines) {
    const label = whole.length > mostCharacters ? `${whole.slice(0, mostCharacters)}…` : whole;
    const wide = 24 + label.length * characterWidth + 14;
    if (rows.length === 0 || x + wide > width) {
      rows.push([]);
      x = 0;
    }
    rows.at(-1)?.push({ label, colour, dash, x: Math.round(x) });
    x += wide;
  }
  return rows;
}

/** The inside of an SVG: title, legend, axes and curves of a chart. */
export function chartMarkup(chart: Chart, { width, height }: Size): Markup {
  const { left, right, top, bottom } = margin;
  const frame = {
    left,
    right: width - right,
    top: top + legendHeight(chart, width),
    bottom: height - bottom,
  };
  const title = [chart.title, shownUnit(chart)].filter(Boolean).join(', ');
  const legend = legendRows(chart, frame.right - left).flatMap((row, place) =>
    row.map(({ label, colour, dash, x }) => {
      const [from, y] = [left + x, top - 1 + legendRowHeight * place];
      return markup`<line class="line ${colourClass(colour)}" stroke-dasharray="${dashOf(dash)}" x1="${from}" x2="${from + 18}" y1="${y}" y2="${y}"/><text x="${from + 24}" y="${y + 4}">${label}</text>`;
    }),
  );
  return markup`<text class="heading" x="${left}" y="18">${title}</text>
${legend}
${drawChart(chart, frame).shapes.map(shapeMarkup)}`;
}

function shapeMarkup({ tag, attributes, text }: Shape): Markup {
  const given = Object.entries(attributes).map(
    ([name, value]) => markup` ${new Markup(name)}="${value}"`.text,
  );
  const inside = tag === 'text' ? markup`${text ?? ''}` : markup`<title>${text ?? ''}</title>`;
  const name = new Markup(tag);
  const attribute = new Markup(given.join(''));
  return text === undefined
    ? markup`<${name}${attribute}/>`
    : markup`<${name}${attribute}>${inside}</${name}>`;
}

const inColours = (shade: 'light' | 'dark'): string =>
  palette[shade].map((colour, at) => `.${colourClass(at)} { color: ${colour}; }`).join(' ');

/** Without custom properties, which viewers of pictures other than browsers do not know. */
export const chartStyles = `
svg text { font: 12px system-ui, sans-serif; fill: #374151; }
svg .heading { font-size: 14px; font-weight: 600; fill: #111827; }
svg .grid { stroke: #e5e7eb; } svg .axis { stroke: #6b7280; }
svg .line { fill: none; stroke: currentColor; stroke-width: 2; } svg .between { stroke-width: 1; } svg .interval { stroke: currentColor; stroke-width: 1.5; }
svg .dot, svg .area { fill: currentColor; } svg .area { opacity: 0.2; }
${inColours('light')}
@media (prefers-color-scheme: dark) {
  svg text { fill: #d1d5db; } svg .heading { fill: #f3f4f6; }
  svg .grid { stroke: #374151; } svg .axis { stroke: #9ca3af; }
  ${inColours('dark')}
}`;
