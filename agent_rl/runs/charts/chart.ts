import { bytesText, numberText, percentText } from '../../telemetry/figures.ts';
import type { Measured } from '../view/api.ts';

/** A curve. Plain JSON. */
export interface Line {
  label: string;
  /** Places among the colours and the dashes. */
  colour: number;
  dash: number;
  /** Iterations, ascending. */
  xs: readonly number[];
  ys: readonly Measured[];
  /** Evaluations, some iterations apart: nothing was measured between its points. */
  isEvaluation?: boolean | undefined;
  /** Ends of an interval around each value. */
  low?: readonly Measured[] | undefined;
  high?: readonly Measured[] | undefined;
}

/** Curves on the same axes. Plain JSON. */
export interface Chart {
  title: string;
  unit: string;
  /** The horizontal axis: `iteration` or `step`. */
  over: string;
  /** Values are shares, from 0 to 100 %. */
  isShare?: boolean | undefined;
  /** Values are parts of a whole, on top of each other. */
  isStacked?: boolean | undefined;
  /** The axis of shares ends here unless one is larger; at 1 by default. */
  shareTo?: number | undefined;
  lines: readonly Line[];
  /** What is not drawn. */
  note?: string | undefined;
}

export const isNumber = (value: Measured | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value);

/** The unit to show beside the title; empty if it adds nothing. */
export function shownUnit({ title, unit, isShare }: Chart): string {
  const isNamed = title.toLowerCase().split(' ').includes(unit);
  return isShare || isNamed || ['', '1', 'B'].includes(unit) ? '' : unit;
}

/** A value in the chart's unit. */
export function valueText(value: Measured, { isShare, unit }: Chart): string {
  if (!isNumber(value)) return value ?? '–';
  if (isShare) return percentText(value);
  return unit === 'B' ? bytesText(value) : numberText(value);
}

/** A chart in words, for screen readers: each curve from its first value to its last. */
export function describe(chart: Chart): string {
  const { title, over, lines } = chart;
  const unit = shownUnit(chart);
  const curves = lines.map(({ label, xs, ys }) => {
    const [first, last] = [ys.findIndex(isNumber), ys.findLastIndex(isNumber)];
    if (first < 0) return `${label}: no values`;
    const ends = [...new Set([first, last])].map((at) =>
      [valueText(ys[at] ?? null, chart), unit, `at ${over} ${xs[at]}`].filter(Boolean).join(' '),
    );
    const way = ends.join(' to ');
    return `${label}: ${ends.length === 1 ? way : `from ${way}`}`;
  });
  return `${title}. ${curves.join('; ')}`;
}
