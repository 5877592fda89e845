import { table } from '../../docs/markdown.ts';
import { median } from '../statistics.ts';
import type { Group, RowAnswer } from './tasks.ts';

export interface MeasuredRow {
  name: string;
  /** Answers of all rounds; absent if it failed, as a peer may. */
  answer?: RowAnswer;
  error?: string;
}

export interface MeasuredGroup extends Pick<Group, 'title' | 'task' | 'tokens'> {
  /** Ours in float32 is the first. */
  rows: readonly MeasuredRow[];
}

export interface ShapeReport {
  device: string;
  threads: number;
  rounds: number;
  groups: readonly MeasuredGroup[];
}

/** A Markdown table. The last column divides a row's median by that of ours in float32. */
export function shapeMarkdown(report: ShapeReport): string {
  const { device, threads, rounds, groups } = report;
  const versions = groups
    .flatMap((group) => group.rows.flatMap(({ answer }) => answer?.versions ?? []))
    .slice(0, 1);
  const conditions = [
    `Random weights, ${device}, ${threads} threads, each row in its own process, ` +
      `${rounds} round${rounds === 1 ? '' : 's'} one row after the other`,
    ...versions,
  ];
  const times = 'Median s (least to most)';
  const columns = [
    'Task',
    'Whose',
    times,
    'tokens/s',
    'Peak of the process',
    'Time relative to ours',
  ];
  return `${conditions.join('; ')}\n\n${table(columns, groups.flatMap(groupCells))}`;
}

function groupCells({ title, task, tokens, rows }: MeasuredGroup): string[][] {
  const ours = rows[0]?.answer;
  // A call of decoding is of several steps.
  const steps = task.kind === 'decode' ? task.steps : 1;
  return rows.map(({ name, answer, error }, i) => {
    const head = [i === 0 ? title : '', name];
    if (answer === undefined) return [...head, `failed: ${error ?? 'no reason'}`, '', '', ''];
    const middle = median(answer.seconds);
    const each = [middle, Math.min(...answer.seconds), Math.max(...answer.seconds)].map((seconds) =>
      significant(seconds / steps),
    );
    return [
      ...head,
      `${each[0]} (${each[1]} to ${each[2]})`,
      significant(tokens / middle),
      `${significant(answer.peakBytes / 1e9)} GB`,
      ours === undefined ? '' : `${(middle / median(ours.seconds)).toFixed(2)} x`,
    ];
  });
}

/** Three digits, never an exponent. */
const significant = (value: number): string =>
  value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
