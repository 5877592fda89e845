import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

import { median } from './statistics.ts';

/** What was measured on. */
export type Machine = ReturnType<ReturnType<typeof watchMachine>>;

/** Runnable processes over the last minute. */
const load = (): number => loadavg()[0] ?? 0;

/** Takes the load before measuring; what it returns is called afterwards. */
export function watchMachine() {
  const loadBefore = load();
  const [processor] = cpus();
  return () => ({
    processor: processor?.model.trim() ?? 'unknown',
    processors: cpus().length,
    node: process.version,
    loadBefore,
    loadAfter: load(),
  });
}

export const fixed = (value: number, digits = 0): string => value.toFixed(digits);
export const mebibytes = (bytes: number, digits = 0): string =>
  `${fixed(bytes / 2 ** 20, digits)} MiB`;
export const peakRssBytes = (): number => 1024 * process.resourceUsage().maxRSS;

/** The median, and between what the numbers lie. */
export const spread = (numbers: readonly number[], digits: number, unit = ''): string =>
  `${fixed(median(numbers), digits)}${unit} (${fixed(Math.min(...numbers), digits)} to ${fixed(Math.max(...numbers), digits)})`;

export const machineText = (machine: Machine): string =>
  `${machine.processor}, ${machine.processors} processors, Node ${machine.node}, ` +
  `load ${fixed(machine.loadBefore, 2)} before and ${fixed(machine.loadAfter, 2)} after`;

/** Shows how far measuring is. */
export const note = (text: string): void => void process.stderr.write(`${text}\n`);

/** The whole numbers of a flag, with commas between them. */
export const wholeNumbers = (flag: string, text: string, least = 1): number[] =>
  text.split(',').flatMap((part) => {
    if (part === '') return [];
    if (/^\d+$/.test(part) && Number(part) >= least) return [Number(part)];
    throw new TypeError(`--${flag} ${text}: ${part} is not a whole number of at least ${least}.`);
  });

export function wholeNumber(flag: string, text: string, least = 1): number {
  const [number, ...others] = wholeNumbers(flag, text, least);
  if (number !== undefined && others.length === 0) return number;
  throw new TypeError(`--${flag} ${text}: expected one whole number of at least ${least}.`);
}

/** A decimal number, such as 0.05. */
export function numberFrom(flag: string, text: string, least: number): number {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number >= least) return number;
  throw new TypeError(`--${flag} ${text}: expected a number of at least ${least}.`);
}

/** The names of a flag, with commas between them. */
export function namesOf(flag: string, text: string, known: readonly string[]): Set<string> {
  const names = text.split(',');
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return new Set(names);
  throw new TypeError(`--${flag} ${unknown}: expected some of ${known.join(', ')}.`);
}

/** Writes a report where `--json` names a file. */
export function writeReport(file: string | undefined, report: object): void {
  if (file !== undefined) writeFileSync(file, `${JSON.stringify(report, null, 1)}\n`);
}
