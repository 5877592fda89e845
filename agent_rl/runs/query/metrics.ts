import { isRecord } from '../../core/is-record.ts';
import { metricDefinition, type MetricName, type Metrics } from '../../telemetry/index.ts';
import { readLines, type Unreadable } from '../episodes/read-lines.ts';
import type { RunFolder } from '../run-folder.ts';
import type { Measured, MetricColumns } from '../view/api.ts';

/** A line of `metrics.jsonl`. */
export interface IterationMetrics {
  /** From 1. */
  iteration: number;
  metrics: Metrics;
}

/** Numbers that JSON lacks are texts in the file. */
const numbers: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

/**
 * Reads the metrics of a run, one entry for each iteration so far.
 *
 * @param unreadable takes lines that cannot be read; without it such a line is an error
 * @throws AgentRlError `DATASET_INVALID` for a line that cannot be read, with its place
 */
export async function readMetrics(
  { metrics: file }: Pick<RunFolder, 'metrics'>,
  unreadable?: Unreadable,
): Promise<IterationMetrics[]> {
  const all: IterationMetrics[] = [];
  for await (const { record } of readLines(file, iterationOf, unreadable)) all.push(record);
  return all;
}

/** @throws Error for a line that holds no metrics */
function iterationOf(line: string): IterationMetrics {
  const record: unknown = JSON.parse(line);
  if (!isRecord(record) || typeof record['iteration'] !== 'number')
    throw new Error('it holds no metrics');
  const { iteration: _, ...named } = record;
  const metrics = Object.entries(named).map(([name, value]) => [name, numbers.get(value) ?? value]);
  return { iteration: record['iteration'], metrics: Object.fromEntries(metrics) as Metrics };
}

/** The metrics of iterations, metric by metric. */
export function columnsOf(all: readonly IterationMetrics[]): MetricColumns {
  const names = [...new Set(all.flatMap(({ metrics }) => Object.keys(metrics)))] as MetricName[];
  const each = <Value>(of: (name: MetricName) => Value) =>
    Object.fromEntries(names.map((name) => [name, of(name)]));
  return {
    iterations: all.map(({ iteration }) => iteration),
    columns: each((name) => all.map(({ metrics }) => measured(metrics[name]))),
    units: each((name) => metricDefinition(name)?.unit ?? ''),
    meanings: each((name) => metricDefinition(name)?.description ?? ''),
  };
}

/** Numbers that JSON lacks become texts again. */
function measured(value: number | undefined): Measured {
  if (typeof value !== 'number') return null;
  return Number.isFinite(value) ? value : (String(value) as Measured);
}
