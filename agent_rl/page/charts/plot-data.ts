import type { Measured } from '../../runs/view/api.ts';

/** What one line of a chart shows. */
export interface Line {
  label: string;
  /** Places in the palettes of colours and dashes. */
  colour: number;
  dash: number;
  /** Iterations, ascending. */
  xs: readonly number[];
  ys: readonly Measured[];
  /** Ends of an interval around it. */
  low?: readonly Measured[];
  high?: readonly Measured[];
}

export interface PlotOptions {
  /** Weight of what came before, see `smooth`. */
  smoothing: number;
  isLog: boolean;
  /** Values on top of each other: shares of a whole. */
  isStacked: boolean;
}

/** One drawn series: a column of the data and the line it belongs to. */
export interface PlotSeries {
  line: number;
  kind: 'raw' | 'faint' | 'edge';
  ys: readonly (number | null)[];
}

export interface Plot {
  xs: readonly number[];
  series: readonly PlotSeries[];
  /** Areas between two series, by their index, in the colour of the first one's line. */
  bands: readonly (readonly [number, number])[];
  /** As measured, by line, for the legend. */
  values: readonly (readonly Measured[])[];
  /** What is not drawn, and why. */
  notes: readonly string[];
}

/** Puts lines onto one axis of iterations, as a chart draws them. */
export function plotData(lines: readonly Line[], options: PlotOptions): Plot {
  const xs = [...new Set(lines.flatMap((line) => line.xs))].toSorted((one, two) => one - two);
  const values = lines.map((line) => spread(line.ys, line.xs, xs));
  const notes = [...notesOn(values, lines)];
  if (options.isStacked) return { xs, ...stacked(values.map(numbersOf)), values, notes };
  const drawn = options.isLog ? values.map(numbersOf).map(onlyPositive) : values.map(numbersOf);
  const dropped = values.flat().filter((value) => typeof value === 'number' && value <= 0).length;
  if (options.isLog && dropped > 0) notes.push(`${dropped} at or below 0: not on a log scale`);
  const series: PlotSeries[] = [];
  const bands: [number, number][] = [];
  for (const [line, ys] of drawn.entries()) {
    const { low, high, xs: own = [] } = lines[line] ?? {};
    if (low && high) {
      bands.push([series.length, series.length + 1]);
      for (const edge of [high, low]) {
        const column = numbersOf(spread(edge, own, xs));
        series.push({ line, kind: 'edge', ys: options.isLog ? onlyPositive(column) : column });
      }
    }
    // An average would lie outside of the interval of what was measured.
    const weight = low ? 0 : options.smoothing;
    if (weight > 0) series.push({ line, kind: 'faint', ys });
    series.push({ line, kind: 'raw', ys: smooth(ys, weight) });
  }
  return { xs, series, bands, values, notes };
}

function spread(
  ys: readonly Measured[],
  own: readonly number[],
  xs: readonly number[],
): readonly Measured[] {
  const at = new Map(own.map((x, index) => [x, ys[index] ?? null]));
  return xs.map((x) => at.get(x) ?? null);
}

const numbersOf = (values: readonly Measured[]): readonly (number | null)[] =>
  values.map((value) => (typeof value === 'number' && Number.isFinite(value) ? value : null));

const onlyPositive = (values: readonly (number | null)[]): readonly (number | null)[] =>
  values.map((value) => (value !== null && value > 0 ? value : null));

function* notesOn(values: readonly (readonly Measured[])[], lines: readonly Line[]) {
  for (const [line, column] of values.entries()) {
    const strange = column.filter((value) => typeof value === 'string');
    if (strange.length > 0)
      yield `${lines[line]?.label}: ${strange.length} not finite (${[...new Set(strange)].join(', ')})`;
  }
}

/** The first line at the bottom; each series is the upper edge of its line. */
function stacked(columns: readonly (readonly (number | null)[])[]): Pick<Plot, 'series' | 'bands'> {
  let below: readonly (number | null)[] = columns[0]?.map(() => 0) ?? [];
  const series = columns.map((column, line): PlotSeries => {
    below = column.map((value, at) => (below[at] ?? 0) + (value ?? 0));
    return { line, kind: 'raw', ys: below };
  });
  const bands = series.map((_, at): [number, number] => [at, at - 1]).filter(([, to]) => to >= 0);
  return { series, bands };
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
