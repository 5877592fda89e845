import { useEffect, useMemo, useRef } from 'preact/hooks';
import type uPlot from 'uplot';

import type { Measured } from '../../runs/view/api.ts';
import { formatMeasured } from '../text/format.ts';
import { escapeUnseen } from '../text/visible-text.ts';
import { drawPlot } from './draw-plot.ts';
import { swatchClass } from './palette.ts';
import { type Line, type Plot, plotData, type PlotOptions } from './plot-data.ts';

export type Zoom = readonly [number, number] | null;

export interface ChartLook extends Omit<PlotOptions, 'isStacked'> {
  isDark: boolean;
  /** Iterations shown; null for all. */
  zoom: Zoom;
  setZoom: (zoom: Zoom) => void;
}

interface ChartProps {
  title: string;
  unit: string;
  meaning: string;
  lines: readonly Line[];
  /** Said below it. */
  note?: string;
  isStacked?: boolean;
  look: ChartLook;
}

/** One chart with its legend, whose values are those under the cursor, or the last ones. */
export function Chart({ title, unit, meaning, lines, note, isStacked = false, look }: ChartProps) {
  const { smoothing, isLog, isDark, zoom, setZoom } = look;
  const plot = useMemo(
    () => plotData(lines, { smoothing, isLog, isStacked }),
    [lines, smoothing, isLog, isStacked],
  );
  const legend = useRef<HTMLUListElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | undefined>(undefined);
  const show = (at: number | null): void => writeValues(legend.current, plot, { at, unit });
  useEffect(() => {
    if (frame.current === null) return undefined;
    const { chart, stop } = drawPlot(frame.current, {
      plot,
      lines,
      isStacked,
      isLog: isLog && !isStacked,
      isDark,
      unit,
      onCursor: show,
      onZoom: setZoom,
    });
    drawn.current = chart;
    show(null);
    return stop;
  }, [plot, isDark]);
  useEffect(() => {
    const [min, max] = zoom ?? extentOf(plot.xs);
    drawn.current?.setScale('x', { min, max });
  }, [zoom, plot, isDark]);
  const name = `${title}. ${summaryOf(plot, lines, unit)}`;
  return (
    <figure class="chart">
      <figcaption title={meaning}>
        {escapeUnseen(title)}{' '}
        {!['', '1', 'B', title.toLowerCase()].includes(unit) && <span class="unit">{unit}</span>}
      </figcaption>
      <div ref={frame} class="plot" role="img" aria-label={name} />
      <ul ref={legend} class="legend">
        {lines.map(({ label, colour, dash }) => (
          <li key={label}>
            <span class={`swatch ${swatchClass(colour)} dash${dash % 6}`} />
            {escapeUnseen(label)} <span class="value" />
          </li>
        ))}
      </ul>
      {[...plot.notes, ...(note === undefined ? [] : [note])].map((text) => (
        <p key={text} class="note">
          {escapeUnseen(text)}
        </p>
      ))}
    </figure>
  );
}

const extentOf = (xs: readonly number[]): readonly [number, number] => {
  const [first = 0, last = 1] = [xs[0], xs.at(-1)];
  return first === last ? [first - 1, last + 1] : [first, last];
};

/** The last value measured, and where. */
function lastOf(values: readonly Measured[]): number {
  return values.findLastIndex((value) => value !== null);
}

/** Straight into the document: the cursor moves over every chart at once. */
function writeValues(
  legend: HTMLUListElement | null,
  plot: Plot,
  { at, unit }: { at: number | null; unit: string },
): void {
  const outputs = legend?.querySelectorAll('.value') ?? [];
  for (const [line, output] of [...outputs].entries()) {
    const values = plot.values[line] ?? [];
    const index = at ?? lastOf(values);
    const value = values[index] ?? null;
    output.textContent = at === null || value !== null ? formatMeasured(value, unit) : '–';
  }
}

function summaryOf(plot: Plot, lines: readonly Line[], unit: string): string {
  const parts = lines.map(({ label }, line) => {
    const values = plot.values[line] ?? [];
    const at = lastOf(values);
    if (at < 0) return `${label}: not recorded`;
    return `${label}: ${formatMeasured(values[at], unit)} at iteration ${plot.xs[at]}`;
  });
  return escapeUnseen(parts.join('; '));
}
