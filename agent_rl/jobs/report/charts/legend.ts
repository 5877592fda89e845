import type { Chart, LegendItem } from './chart.ts';

/** An item and its place from the left end of the plot. */
type PlacedItem = LegendItem & { x: number };

/** About the width of a character; its font is not known here. */
const characterWidth = 6.6;
const mostCharacters = 44;

export const legendRowHeight = 18;

/** Rows of a legend that fit a width. */
export function legendRows({ lines, legend = lines }: Chart, width: number): PlacedItem[][] {
  const rows: PlacedItem[][] = [];
  let x = width;
  for (const { name: whole, colour, dash, measured } of legend) {
    const name = whole.length > mostCharacters ? `${whole.slice(0, mostCharacters)}…` : whole;
    const wide = 24 + name.length * characterWidth + 14;
    if (rows.length === 0 || x + wide > width) {
      rows.push([]);
      x = 0;
    }
    const place = { name, dash, measured, x: Math.round(x) };
    rows.at(-1)?.push(colour === undefined ? place : { ...place, colour });
    x += wide;
  }
  return rows;
}
