import { isRecord } from '../../../agent_rl/core/is-record.ts';
import { showValue } from '../../../agent_rl/core/show-value.ts';
import { readTable, tableEndings } from '../../tables/read-table.ts';
import { rowUnit, tableEnding } from '../../tables/row-unit.ts';
import type { SourceProblem } from '../source-record.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A row of a table with its place, or why it cannot be read. */
export type ReadRow = { where: string; row: Row } | { problem: SourceProblem };

/** Endings of files that hold rows. */
export const rowFileEndings: readonly string[] = tableEndings;

/**
 * Rows of a table with their places.
 *
 * @yields Each row, or why it cannot be read.
 * @throws AgentRlError `DATASET_INVALID` when the file as a whole cannot be read.
 */
export async function* readRows(file: string): AsyncGenerator<ReadRow> {
  for await (const read of readTable(file)) {
    const where = placeIn(file, read.line);
    if ('problem' in read) yield { problem: { where, text: read.problem.text } };
    else {
      const row = read.exact ?? read.value;
      if (isRecord(row)) yield { where, row };
      else yield { problem: { where, text: `is ${showValue(row)}; expected an object.` } };
    }
  }
}

function placeIn(file: string, line: number): string {
  if (rowUnit(file) === 'line') return `${file}:${line}`;
  return tableEnding(file) === '.json' ? `${file}[${line - 1}]` : `${file}:row ${line}`;
}
