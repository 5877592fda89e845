import { readFile, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { AgentRlError, nodeCodeOf } from '../../agent_rl/core/errors.ts';
import { showValue } from '../../agent_rl/core/show-value.ts';
import { JsonShape } from '../../agent_rl/core/wire/json-shape.ts';
import {
  exactTwin,
  type JsonLine,
  type ParseJson,
  readJsonLines,
  type TableLimits,
  tableLimits,
  tooMany,
  unreadable,
} from './json-lines.ts';
import { csvRecords } from './csv.ts';
import { tableEnding } from './row-unit.ts';

type ReadFile = (file: string, limits: TableLimits) => AsyncGenerator<JsonLine>;

/** How files of each ending are read. */
const readers = new Map<string, ReadFile>([
  ['.csv', (file, limits) => separatedRows(file, ',', limits)],
  ['.tsv', (file, limits) => separatedRows(file, '\t', limits)],
  ['.json', listRows],
  // Its reader and its decompressors are many modules.
  [
    '.parquet',
    async function* readParquet(file, limits) {
      yield* (await import('./parquet-rows.ts')).parquetRows(file, limits);
    },
  ],
]);

const packable = ['.jsonl', '.ndjson', '.csv', '.tsv', '.json'];

/** Endings of files that hold rows. */
export const tableEndings = [
  '.jsonl',
  '.ndjson',
  ...readers.keys(),
  ...packable.map((ending) => `${ending}.gz`),
];

/** Whether a file is named as one that holds rows. */
export const isTable = (file: string): boolean =>
  tableEndings.some((ending) => file.toLowerCase().endsWith(ending));

/**
 * Rows of a CSV or TSV file with a header, of a JSON file with one list, of a Parquet file, or of a JSONL file under any
 * other name; all but Parquet may be packed, as `.jsonl.gz`. Cells of CSV are texts.
 *
 * @param parse how a line of JSONL is read as JSON
 * @yields Each row, or what is wrong with it.
 * @throws AgentRlError `DATASET_INVALID` when the file as a whole cannot be read, or holds more than a table may.
 */
export async function* readTable(
  file: string,
  parse?: ParseJson,
  limits: TableLimits = tableLimits,
): AsyncGenerator<JsonLine> {
  const read = readers.get(tableEnding(file));
  let count = 0;
  for await (const row of read?.(file, limits) ?? readJsonLines(file, parse, limits)) {
    count += 1;
    if (count > limits.rows) throw tooMany(file, 'rows', limits.rows);
    // Rows that are there already would let no signal through.
    if (count % rowsAtOnce === 0) await setImmediate();
    yield row;
  }
}

const unpack = promisify(gunzip);

/** @throws AgentRlError `DATASET_INVALID` for a file that is not there, is too long or is not UTF-8 */
async function textOf(file: string, advice: string, most: number): Promise<string> {
  try {
    const { size } = await stat(file);
    if (size > most) throw tooMany(file, 'bytes', most, `${size}`);
    const bytes = await readFile(file);
    const text = /\.gz$/i.test(file) ? await unpack(bytes, { maxOutputLength: most }) : bytes;
    return new TextDecoder('utf-8', { fatal: true }).decode(text);
  } catch (cause) {
    if (nodeCodeOf(cause) === 'ERR_BUFFER_TOO_LARGE') throw tooMany(file, 'bytes', most);
    throw AgentRlError.is(cause) ? cause : unreadable(file, cause, advice);
  }
}

async function* separatedRows(
  file: string,
  delimiter: string,
  { fileBytes }: TableLimits,
): AsyncGenerator<JsonLine> {
  const advice = 'Give a CSV file in UTF-8 whose first row names the columns.';
  const text = await textOf(file, advice, fileBytes);
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
    ? `has the column names ${names.map((name) => JSON.stringify(name)).join(', ')}; every column needs a name.`
    : twice === undefined
      ? undefined
      : `has two columns named ${JSON.stringify(twice)}; every name must be unique.`;
  if (text !== undefined) throw new AgentRlError('DATASET_INVALID', `${where}: ${text}`);
}

async function* listRows(
  file: string,
  { fileBytes, values }: TableLimits,
): AsyncGenerator<JsonLine> {
  const advice = 'Give a JSON list of objects, or JSONL with one object a line.';
  const text = await textOf(file, advice, fileBytes);
  const problem = new JsonShape().add(Buffer.from(text)).problem(values);
  if (problem !== undefined)
    throw new AgentRlError('DATASET_INVALID', `${file} ${problem}. ${advice}`);
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (cause) {
    throw unreadable(file, cause, advice);
  }
  if (!Array.isArray(list)) {
    throw new AgentRlError(
      'DATASET_INVALID',
      `${file} holds ${showValue(list)}; expected a list of objects. If it has one object per line, rename it to end in .jsonl.`,
    );
  }
  const { exact } = exactTwin(text);
  for (const [index, value] of list.entries())
    yield { line: index + 1, value, exact: Array.isArray(exact) ? exact[index] : undefined };
}

const rowsAtOnce = 2000;
