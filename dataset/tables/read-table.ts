import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import { type JsonLine, type ParseJson, readJsonLines, unreadable } from './json-lines.ts';
import { csvRecords } from './csv.ts';

type ReadFile = (file: string) => AsyncGenerator<JsonLine>;

/** How files of each ending are read. */
const readers = new Map<string, ReadFile>([
  ['.csv', (file) => separatedRows(file, ',')],
  ['.tsv', (file) => separatedRows(file, '\t')],
  ['.json', listRows],
  ['.parquet', parquetRows],
]);

/** Endings of files that hold rows. */
export const tableEndings = ['.jsonl', '.ndjson', ...readers.keys()];

/**
 * Rows of a CSV or TSV file with a header, of a JSON file with one list, of a Parquet file, or of a JSONL file under any
 * other name. Cells of CSV are texts.
 *
 * @param parse how a line of JSONL is read as JSON
 * @throws AgentRlError `DATASET_INVALID` when the file as a whole cannot be read.
 */
export const readTable = (file: string, parse?: ParseJson): AsyncGenerator<JsonLine> =>
  readers.get(extname(file).toLowerCase())?.(file) ?? readJsonLines(file, parse);

/** @throws AgentRlError `DATASET_INVALID` for a file that is not there or is not UTF-8 */
async function textOf(file: string, advice: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (cause) {
    throw unreadable(file, cause, advice);
  }
}

async function* separatedRows(file: string, delimiter: string): AsyncGenerator<JsonLine> {
  const text = await textOf(file, 'Give a CSV file in UTF-8 with the names of its columns first.');
  let names: readonly string[] | undefined;
  for (const record of csvRecords(text, delimiter)) {
    const { line } = record;
    if ('text' in record) {
      yield { line, problem: { line, path: '', text: record.text } };
      continue;
    }
    const { cells } = record;
    if (names === undefined) {
      checkNames(cells, `${file}:${line}`);
      names = cells;
      continue;
    }
    yield cells.length === names.length
      ? { line, value: Object.fromEntries(names.map((name, index) => [name, cells[index]])) }
      : { line, problem: { line, path: '', ...wrongCount(cells, names) } };
  }
}

function wrongCount({ length }: readonly string[], names: readonly string[]) {
  return {
    text: `has ${length} cells; expected ${names.length}, one for each column: ${names.join(', ')}.`,
    value: `${length}`,
  };
}

/** @throws AgentRlError `DATASET_INVALID` */
function checkNames(names: readonly string[], where: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  const text = names.some((name) => name.trim() === '')
    ? `names its columns ${names.map((name) => JSON.stringify(name)).join(', ')}; every column needs a name.`
    : twice === undefined
      ? undefined
      : `has two columns named ${JSON.stringify(twice)}; every name must be unique.`;
  if (text !== undefined) throw new AgentRlError('DATASET_INVALID', `${where}: ${text}`);
}

async function* listRows(file: string): AsyncGenerator<JsonLine> {
  const advice = 'Give a JSON list of objects, or JSONL with one object a line.';
  const text = await textOf(file, advice);
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw unreadable(file, cause, advice);
  }
  if (!Array.isArray(list)) {
    throw new AgentRlError(
      'DATASET_INVALID',
      `${file} holds ${showValue(list)}; expected a list of objects. For one object a line, end its name in .jsonl.`,
    );
  }
  for (const [index, value] of list.entries()) yield { line: index + 1, value };
}

const rowsAtOnce = 2000;

async function* parquetRows(file: string): AsyncGenerator<JsonLine> {
  try {
    const buffer = await asyncBufferFromFile(file);
    const metadata = await parquetMetadataAsync(buffer);
    const total = Number(metadata.num_rows);
    for (let rowStart = 0; rowStart < total; rowStart += rowsAtOnce) {
      const rowEnd = Math.min(total, rowStart + rowsAtOnce);
      const options = { file: buffer, metadata, compressors, rowStart, rowEnd };
      const rows: readonly unknown[] = await parquetReadObjects(options);
      for (const [index, value] of rows.entries()) yield { line: rowStart + index + 1, value };
    }
  } catch (cause) {
    throw unreadable(file, cause, 'Give a whole Parquet file.');
  }
}
