import stringWidth from 'string-width';

import { largest, smallest } from '../../core/long-lists.ts';
import { visibleControls } from '../visible-controls.ts';

/** A line cut to what a terminal of this many columns shows without wrapping it. */
export function fitLine(line: string, columns: number): string {
  const whole = visibleControls(line).replaceAll(/[\n\t]/g, ' ');
  if (stringWidth(whole) <= columns) return whole;
  let [kept, width] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(whole)) {
    width += stringWidth(segment);
    // The last column is for what says that something is missing.
    if (width >= columns) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** `█████░░░░░`: how much of a whole is done, a share of 0 to 1. */
export function barText(share: number, columns: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * columns);
  return '█'.repeat(full) + '░'.repeat(columns - full);
}

const levels = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

export interface SparkRange {
  /** Drawn lowest; by default 0, or the smallest value where that is below 0. */
  low?: number;
  /** Drawn highest; by default the largest value. */
  high?: number;
}

/** `▁▃▅█`: a column for each of the values; what was not measured is a gap. */
export function sparkline(
  values: readonly (number | undefined)[],
  { low, high }: SparkRange = {},
): string {
  const measured = values.filter((value): value is number => Number.isFinite(value));
  const least = low ?? Math.min(0, smallest(measured));
  const span = (high ?? Math.max(0, largest(measured))) - least;
  const levelOf = (value: number): string => {
    const share = span > 0 ? (value - least) / span : 0;
    const level = Math.min(levels.length - 1, Math.max(0, Math.floor(share * levels.length)));
    return levels[level] ?? '';
  };
  return values
    .map((value) => (value === undefined || !Number.isFinite(value) ? ' ' : levelOf(value)))
    .join('');
}

/** Below it a panel is one line. */
export const narrowColumns = 40;

/** Parts of one line, two spaces between them; the last ones start a new line where they do not fit. */
export function flow(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const joined = `${last}  ${part}`;
    if (last === undefined || joined.length > columns) lines.push(part);
    else lines[lines.length - 1] = joined;
  }
  return lines;
}
