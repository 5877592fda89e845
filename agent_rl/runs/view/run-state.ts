import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

import { largest } from '../../core/long-lists.ts';
import { holderOfRun } from '../../telemetry/run-lock.ts';
import { segmentsOf } from '../journal/segments.ts';
import type { StoredSummary } from '../query/stored-summary.ts';
import type { RunFolder } from '../run-folder.ts';
import type { SuccessRate } from '../../trainer/success-rate.ts';
import type { Rate, RunHead, RunState } from './api.ts';

/** Bytes to read from either end of a file that may be long. */
const endBytes = 64 * 2 ** 10;

/** The beginning or the end of a file as text; empty if the file does not exist. */
function endOfFile(file: string, end: 'first' | 'last', bytes = endBytes): string {
  if (!existsSync(file)) return '';
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, bytes));
    readSync(descriptor, buffer, 0, buffer.length, end === 'first' ? 0 : size - buffer.length);
    return buffer.toString();
  } finally {
    closeSync(descriptor);
  }
}

/** The last lines of a log, as far as the end of the file was read. */
export const lastLines = (file: string, most: number): string[] =>
  endOfFile(file, 'last')
    .split('\n')
    .filter((line) => line !== '')
    .slice(-most);

type Summary = StoredSummary | undefined;

/**
 * The state of a run, by its lock, its summary and its log.
 *
 * @param problem why the run's records cannot be read, the summary included; null if they can
 */
export function runState(
  folder: RunFolder,
  summary: Summary,
  problem: string | null = null,
): { state: RunState; stateWhy: string | null } {
  const holder = holderOfRun(folder.path);
  if (holder?.held === true) return { state: 'training', stateWhy: holder.why };
  const failure = failureOf(folder);
  if (failure !== undefined) return { state: 'failed', stateWhy: failure };
  if (problem !== null) return { state: 'unknown', stateWhy: problem };
  if (summary?.interrupted === true)
    return { state: 'interrupted', stateWhy: 'stopped; it can be resumed' };
  if (summary !== undefined) return endOf(summary);
  if (holder !== undefined) return { state: 'interrupted', stateWhy: holder.why };
  if (existsSync(folder.log))
    return { state: 'interrupted', stateWhy: 'no process is running it, and it has no summary' };
  return { state: 'unknown', stateWhy: 'it has no summary and no log' };
}

/** How a run ended, by the verdict of its summary. */
function endOf(summary: NonNullable<Summary>): { state: RunState; stateWhy: string | null } {
  const { is, says = null } = summary.verdict ?? {};
  const isBad = is === 'worse' || is === 'missed';
  return { state: isBad ? 'worse' : 'finished', stateWhy: says };
}

/** The error that ended the run, if its log has one later than the summary. */
function failureOf({ log, summary }: RunFolder): string | undefined {
  const ends = endOfFile(log, 'last').matchAll(/^(\S+) error The run ended: (.*)$/gm);
  const [, at = '', why = ''] = [...ends].at(-1) ?? [];
  if (at === '') return undefined;
  if (existsSync(summary) && statSync(summary).mtimeMs > Date.parse(at)) return undefined;
  return why;
}

/** When the first line of its log was written. */
export function startedAt({ log }: RunFolder): string | null {
  const [first = ''] = endOfFile(log, 'first', 64).split(' ', 1);
  return Number.isNaN(Date.parse(first)) ? null : first;
}

/** When one of its records was last written. */
export function updatedAt({ metrics, journal, summary, log, config }: RunFolder): string | null {
  const episodes = segmentsOf(journal).map(({ file }) => file);
  const times = [metrics, ...episodes, summary, log, config]
    .filter((file) => existsSync(file))
    .map((file) => statSync(file).mtimeMs);
  return times.length === 0 ? null : new Date(largest(times)).toISOString();
}

/** The iteration of the last whole line of metrics; 0 before there is one. */
export function lastIteration({ metrics }: RunFolder): number {
  // Lines begin with it.
  const numbers = endOfFile(metrics, 'last').matchAll(/^\{"iteration":(\d+)[,}].*\n/gm);
  return Number([...numbers].at(-1)?.[1] ?? 0);
}

/** Success rates on held-out tasks from the summary, or from the log before there is one. */
export function headlineOf({ log }: RunFolder, summary: Summary): RunHead['headline'] {
  const { before, after, difference } = summary?.eval ?? {};
  const headline = {
    before: rateOf(before) ?? loggedRate(endOfFile(log, 'first')),
    after: rateOf(after),
    difference: difference
      ? rateOf({ ...difference, successRate: difference.difference, n: difference.tasks })
      : null,
  };
  return headline.before === null && headline.after === null ? null : headline;
}

/** A rate from a summary; null if it has none. */
export function rateOf(
  rate: Partial<Pick<SuccessRate, 'successRate' | 'interval95' | 'n'>> | null | undefined,
): Rate | null {
  const { successRate: value = null, interval95, n = null } = rate ?? {};
  return value === null
    ? null
    : { value, low: interval95?.low ?? null, high: interval95?.high ?? null, n };
}

/** `Evaluation before iteration 0: 47 of 200 = 23.5 % [17.5, 29.5]`. */
function loggedRate(log: string): Rate | null {
  const found =
    / Evaluation before iteration \d+: (\d+) of (\d+) = [\d.]+ % \[([\d.]+), ([\d.]+)\]/.exec(log);
  if (found === null) return null;
  const [successes = 0, n = 0, low = 0, high = 0] = found.slice(1).map(Number);
  return { value: successes / n, low: low / 100, high: high / 100, n };
}
