import uPlot from 'uplot';

import { formatMeasured, formatTicks } from '../text/format.ts';
import { colourOf, dashOf } from './palette.ts';
import type { Line, Plot, PlotSeries } from './plot-data.ts';
import { rangeOf } from './range-of.ts';

interface Drawing {
  plot: Plot;
  lines: readonly Line[];
  isStacked: boolean;
  isLog: boolean;
  isDark: boolean;
  unit: string;
  /** Index of the iteration under the cursor; null when it leaves. */
  onCursor: (at: number | null) => void;
  onZoom: (zoom: readonly [number, number] | null) => void;
}

const height = 170;
const font = '11px system-ui, sans-serif';
/** Fewer points than this are drawn as points too: a line through two says little. */
const fewPoints = 12;
const log10 = 3;

/** Draws a chart into an element and keeps its width; `stop` takes it out again. */
export function drawPlot(frame: HTMLElement, drawing: Drawing): { chart: uPlot; stop: () => void } {
  const { plot } = drawing;
  const data = [plot.xs, ...plot.series.map(({ ys }) => ys)] as unknown as uPlot.AlignedData;
  const chart = new uPlot(optionsOf(frame.clientWidth, drawing), data, frame);
  const resized = new ResizeObserver(() => {
    const width = frame.clientWidth;
    if (width > 0 && width !== chart.width) chart.setSize({ width, height });
  });
  resized.observe(frame);
  return {
    chart,
    stop: () => {
      resized.disconnect();
      chart.destroy();
    },
  };
}

function optionsOf(width: number, drawing: Drawing): uPlot.Options {
  const { plot, lines, isStacked, isLog, isDark, unit, onCursor, onZoom } = drawing;
  const lineColour = (line: number): string => colourOf(lines[line]?.colour ?? 0, isDark);
  return {
    width: Math.max(width, 100),
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: 'iterations' },
      drag: { x: true, y: false, setScale: false },
      points: { size: (_, at) => (plot.series[at - 1]?.kind === 'raw' ? 6 : 0) },
    },
    scales: {
      x: { time: false },
      y: {
        distr: isLog ? log10 : 1,
        ...(!isLog && { range: (_, low, high) => rangeOf(low, high, isStacked) }),
      },
    },
    axes: [
      { ...axisLook(isDark), size: 26 },
      {
        ...axisLook(isDark),
        size: 58,
        values: (...[, ticks, , , step]) =>
          isLog
            ? ticks.map((tick: number | null) =>
                tick === null ? null : formatMeasured(tick, unit),
              )
            : formatTicks(ticks, step, unit),
      },
    ],
    series: [
      {},
      ...plot.series.map((series) => ({
        ...seriesOf(series, drawing),
        stroke: series.kind === 'edge' ? 'transparent' : lineColour(series.line),
        ...(isStacked && { fill: `${lineColour(series.line)}99` }),
      })),
    ],
    bands: plot.bands.map(([upper, lower]) => ({
      series: [upper + 1, lower + 1] as [number, number],
      fill: `${lineColour(plot.series[upper]?.line ?? 0)}${isStacked ? '99' : '2e'}`,
    })),
    hooks: {
      setCursor: [({ cursor: { idx } }) => onCursor(idx ?? null)],
      setSelect: [
        (chart) => {
          const { left, width: wide } = chart.select;
          if (wide < 5) return;
          onZoom([chart.posToVal(left, 'x'), chart.posToVal(left + wide, 'x')]);
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      ready: [({ over }) => over.addEventListener('dblclick', () => onZoom(null))],
    },
  };
}

function seriesOf({ line, kind, ys }: PlotSeries, { lines, isStacked }: Drawing): uPlot.Series {
  const measured = ys.reduce<number>((sum, y) => sum + (y === null ? 0 : 1), 0);
  return {
    width: kind === 'raw' ? 1.6 : 1,
    ...(kind === 'faint' && { alpha: 0.3 }),
    dash: kind === 'raw' && !isStacked ? dashOf(lines[line]?.dash ?? 0) : [],
    spanGaps: true,
    points: { show: kind === 'raw' && !isStacked && measured <= fewPoints, size: 5 },
  };
}

function axisLook(isDark: boolean): uPlot.Axis {
  const grid = isDark ? '#2c3238' : '#e9e9e5';
  return {
    stroke: isDark ? '#a3abb3' : '#565e66',
    font,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1, size: 4 },
  };
}
