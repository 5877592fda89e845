import type { Measured } from '../../runs/view/api.ts';
import { numberText, percentText } from '../../telemetry/figures.ts';

/** Shown where nothing was measured; never 0. */
export const notRecorded = 'not recorded';

/** A measured value as text; NaN and Infinity by name. */
export function formatNumber(value: Measured | undefined): string {
  if (value === null || value === undefined) return notRecorded;
  return typeof value === 'string' ? value : numberText(value);
}

/** 0.4567 as `45.7 %`. */
export const formatShare = (value: number | null | undefined): string =>
  value === null || value === undefined ? notRecorded : percentText(value);

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

/** An ISO 8601 time in the reader's time zone. */
export function formatTime(time: string | null): string {
  if (time === null) return notRecorded;
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? time
    : date.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
}

/** Any value as indented JSON; a string as itself. */
export const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? notRecorded);
