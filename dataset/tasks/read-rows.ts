import { showValue } from '../../agent_rl/core/show-value.ts';
import { type DatasetProblem, datasetError } from './dataset-problem.ts';
import { readTable } from '../tables/read-table.ts';
import { rowUnit } from '../tables/row-unit.ts';
import { mapRow, plainCell, type TableReading } from '../tables/table-reading.ts';
import type { ParseJson } from '../tables/json-lines.ts';
import { append } from '../../agent_rl/core/long-lists.ts';

/** A line as a row, or everything that is wrong with it. */
export type RowReading<Row> = { row: Row } | { problems: readonly DatasetProblem[] };

/** Reads a parsed line. */
export type RowReader<Row> = (value: unknown, line: number) => RowReading<Row>;

/** What a file of rows holds. */
export interface RowFormat<Row> {
  /** The rows' name in messages: `tasks`. */
  name: string;
  /** What may help where every row has the same problem: the file is of another shape. */
  remedy: string;
  /** How a line of JSONL is read as JSON. */
  parse?: ParseJson;
  /** How columns become fields. */
  reading?: TableReading;
  /** Makes the reader of one file. */
  reader: () => RowReader<Row>;
  /** The field that must differ from row to row, where there is one. */
  unique?: { path: string; of: (row: Row) => string };
}

/**
 * Reads all rows of a file: JSONL, CSV, TSV, a JSON list or Parquet, by its ending.
 *
 * @throws AgentRlError `DATASET_INVALID`, with every kind of problem in the file, `file:line path: …`.
 */
export async function readRows<Row>(file: string, format: RowFormat<Row>): Promise<Row[]> {
  const { name, remedy, unique, parse, reading: mapping = {} } = format;
  const read = format.reader();
  const plain = file.toLowerCase().endsWith('.parquet') ? plainCell : (value: unknown) => value;
  const problems: DatasetProblem[] = [];
  const rows: Row[] = [];
  const lineOf = new Map<string, number>();
  let lines = 0;
  for await (const json of readTable(file, parse)) {
    lines += 1;
    const { line } = json;
    const mapped =
      'problem' in json
        ? { problems: [json.problem] }
        : mapRow(plain(json.value), line, mapping, json.exact);
    const reading = 'problems' in mapped ? mapped : read(mapped.value, line);
    if ('problems' in reading) {
      append(problems, reading.problems);
      continue;
    }
    rows.push(reading.row);
    if (unique === undefined) continue;
    const id = unique.of(reading.row);
    const first = lineOf.get(id);
    if (first === undefined) {
      lineOf.set(id, line);
      continue;
    }
    const { path } = unique;
    const value = showValue(id);
    const text = `${value} is already the ${path} of ${rowUnit(file)} ${first}; every ${path} must be unique.`;
    problems.push({ line, path, text, value });
  }
  if (problems.length > 0) throw datasetError(file, problems, { rows: lines, remedy });
  if (rows.length > 0) return rows;
  const text = `the file holds no ${name}; expected one per ${rowUnit(file)}.`;
  throw datasetError(file, [{ line: 1, path: '', text }]);
}
