import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

import { showValue } from '../../../agent_rl/core/show-value.ts';
import { isRecord } from '../../../agent_rl/core/is-record.ts';
import { AgentRlError } from '../../../agent_rl/core/errors.ts';
import { readJsonLines, unreadable } from '../../tasks/json-lines.ts';
import type { SourceProblem } from '../source-record.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A row of a table with its place, or why it cannot be read. */
export type ReadRow = { where: string; row: Row } | { problem: SourceProblem };

/** Endings of files that hold rows. */
export const rowFileEndings = ['.jsonl', '.ndjson', '.json', '.parquet'] as const;

/**
 * Rows of a JSONL file, of a JSON file with one list, or of a Parquet file.
 *
 * @throws AgentRlError `DATASET_INVALID` when the file as a whole cannot be read.
 */
export function readRows(file: string): AsyncGenerator<ReadRow> {
  const ending = extname(file).toLowerCase();
  if (ending === '.parquet') return parquetRows(file);
  return ending === '.json' ? listRows(file) : jsonlRows(file);
}

async function* jsonlRows(file: string): AsyncGenerator<ReadRow> {
  for await (const line of readJsonLines(file)) {
    const where = `${file}:${line.line}`;
    yield 'problem' in line
      ? { problem: { where, text: line.problem.text } }
      : rowOf(line.value, where);
  }
}

async function* listRows(file: string): AsyncGenerator<ReadRow> {
  let list: unknown;
  try {
    const bytes = await readFile(file);
    list = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw unreadable(file, cause, 'Give a JSON list of objects, or JSONL with one object a line.');
  }
  if (!Array.isArray(list)) {
    throw new AgentRlError(
      'DATASET_INVALID',
      `${file} holds ${showValue(list)}; expected a list of objects. For one object a line, end its name in .jsonl.`,
    );
  }
  for (const [index, value] of list.entries()) yield rowOf(value, `${file}[${index}]`);
}

const rowsAtOnce = 2000;

async function* parquetRows(file: string): AsyncGenerator<ReadRow> {
  try {
    const buffer = await asyncBufferFromFile(file);
    const metadata = await parquetMetadataAsync(buffer);
    const total = Number(metadata.num_rows);
    for (let rowStart = 0; rowStart < total; rowStart += rowsAtOnce) {
      const rowEnd = Math.min(total, rowStart + rowsAtOnce);
      const options = { file: buffer, metadata, compressors, rowStart, rowEnd };
      const rows: readonly unknown[] = await parquetReadObjects(options);
      for (const [index, row] of rows.entries())
        yield rowOf(row, `${file}:row ${rowStart + index + 1}`);
    }
  } catch (cause) {
    throw unreadable(file, cause, 'Give a whole Parquet file.');
  }
}

function rowOf(value: unknown, where: string): ReadRow {
  if (isRecord(value)) {
    return { where, row: value };
  }
  return { problem: { where, text: `is ${showValue(value)}; expected an object.` } };
}
