import type { Measured } from '../../runs/view/api.ts';

/** What stands where nothing was measured; never 0. */
export const notRecorded = 'not recorded';

/** A number with four digits that matter; what is no number as its name. */
export function formatNumber(value: Measured | undefined): string {
  if (value === null || value === undefined) return notRecorded;
  if (typeof value === 'string') return value;
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace('e+', 'e');
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return size >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(4)));
}

/** A value as its unit is read: bytes with a larger unit, all else as a number. */
export const formatMeasured = (value: Measured | undefined, unit: string): string =>
  unit === 'B' && typeof value === 'number' ? formatBytes(value) : formatNumber(value);

/** Ticks of an axis with as many decimals as their step needs; null for a tick without a label. */
export function formatTicks(ticks: readonly (number | null)[], step: number, unit: string) {
  const decimals = decimalsOf(step);
  return ticks.map((tick) => {
    if (tick === null) return null;
    if (unit === 'B' || decimals > 7 || Math.abs(tick) >= 1e6) return formatMeasured(tick, unit);
    return tick === 0 ? '0' : tick.toLocaleString('en', { maximumFractionDigits: decimals });
  });
}

/** How many decimals write a step exactly: 2 for 0.25. */
function decimalsOf(step: number): number {
  let decimals = 0;
  while (decimals < 12 && Math.abs(Number(step.toFixed(decimals)) - step) > 1e-6 * step)
    decimals += 1;
  return decimals;
}

/** 0.4567 as `45.7 %`. */
export const formatShare = (value: number | null | undefined): string =>
  value === null || value === undefined ? notRecorded : `${(100 * value).toFixed(1)} %`;

/** A difference of two shares in points of a percentage: 0.71 as `+71.0`. */
export const formatPoints = (value: number): string =>
  `${value > 0 ? '+' : ''}${(100 * value).toFixed(1)}`;

/** Bytes with a unit of two's powers. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** Seconds as `0.42 s`, `63 ms`, `7 min 48 s`. */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return notRecorded;
  if (seconds < 0.1) return `${formatNumber(Number((1000 * seconds).toPrecision(3)))} ms`;
  if (seconds < 120) return `${formatNumber(Number(seconds.toPrecision(3)))} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 120
    ? `${minutes} min ${Math.round(seconds - 60 * minutes)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A time of ISO 8601 in the reader's own zone. */
export function formatTime(time: string | null): string {
  if (time === null) return notRecorded;
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? time
    : date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}

/** Any value as JSON, on as many lines as it takes; a text as itself. */
export const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? notRecorded);
