import { isUtf8 } from 'node:buffer';

import { AgentRlError, messageOf, nodeCodeOf } from '../../agent_rl/core/errors.ts';
import { fileLines } from '../../agent_rl/core/wire/file-lines.ts';
import { exactNumbers } from '../../agent_rl/core/wire/json-numbers.ts';
import { JsonShape } from '../../agent_rl/core/wire/json-shape.ts';
import type { DatasetProblem } from '../tasks/dataset-problem.ts';

/** What a table may hold: more would not fit into memory. */
export interface TableLimits {
  lineBytes: number;
  /** Maximum size of a file that is read as a whole: CSV, or one JSON list. */
  fileBytes: number;
  rows: number;
  /** Numbers, texts, lists and so on of a line, or of a JSON list as a whole. */
  values: number;
  /** Maximum of a row group of Parquet, which is read as a whole: its cells, and their bytes. */
  cells: number;
  cellBytes: number;
}

export const tableLimits: TableLimits = {
  lineBytes: 64 * 2 ** 20,
  // The longest text of V8.
  fileBytes: 2 ** 29,
  rows: 5_000_000,
  values: 2 ** 24,
  cells: 2 ** 26,
  cellBytes: 2 ** 31,
};

/** A line that could be read as JSON, or what is wrong with it. */
export type JsonLine = ReadLine | { line: number; problem: DatasetProblem };

interface ReadLine {
  line: number;
  value: unknown;
  /** The value, with each number that a double cannot hold as a text; absent if it has none. */
  exact?: unknown;
}

/** Reads JSON. @throws SyntaxError */
export type ParseJson = (json: string) => unknown;

/**
 * The lines of a JSONL file. Blank lines are skipped.
 *
 * @yields Each other line, numbered from 1 with the blank ones.
 * @throws AgentRlError `DATASET_INVALID` when the file cannot be read, or has a line that is too long.
 */
export async function* readJsonLines(
  file: string,
  parse?: ParseJson,
  { lineBytes, values }: Pick<TableLimits, 'lineBytes' | 'values'> = tableLimits,
): AsyncGenerator<JsonLine> {
  try {
    for await (const { line, bytes } of fileLines(file, lineBytes))
      if (bytes.some((byte) => !blank.has(byte))) yield parseLine(bytes, line, { parse, values });
  } catch (error) {
    if (AgentRlError.is(error) || nodeCodeOf(error) === '') throw error;
    throw unreadable(file, error, 'Give the path of a JSONL, JSON, CSV, TSV or Parquet file.');
  }
}

/** Why a file as a whole cannot be read, and what to do. */
export function unreadable(file: string, cause: unknown, advice: string): AgentRlError {
  // Node ends its messages with the call and the path, `, open '/tmp/x'`.
  const why =
    nodeCodeOf(cause) === 'ENOENT'
      ? 'there is no such file'
      : messageOf(cause).replace(/, \w+( '.*')?$/, '');
  return new AgentRlError('DATASET_INVALID', `Cannot read ${file}: ${why}. ${advice}`, { cause });
}

const decoder = new TextDecoder();

/** Space, tab and what other blank lines hold. */
const blank: ReadonlySet<number> = new Set([9, 11, 12, 13, 32]);

function parseLine(
  bytes: Buffer,
  line: number,
  { parse, values }: { parse: ParseJson | undefined; values: number },
): JsonLine {
  const wrong = (text: string, value?: string): JsonLine => ({
    line,
    problem: { line, path: '', text, value },
  });
  if (!isUtf8(bytes)) return wrong('is not UTF-8; save the file as UTF-8.');
  const problem = new JsonShape().add(bytes).problem(values);
  if (problem !== undefined) return wrong(`${problem}.`);
  try {
    const json = decoder.decode(bytes);
    if (parse !== undefined) return { line, value: parse(json) };
    return { line, value: JSON.parse(json), ...exactTwin(json) };
  } catch (error) {
    const why = messageOf(error);
    return wrong(`is not JSON (${why}); expected one object on a line.`, why);
  }
}

/** What JSON text, which can be parsed, says without losing digits, where that is something else. */
export function exactTwin(json: string): { exact?: unknown } {
  const exact = exactNumbers(json);
  return exact === json ? {} : { exact: JSON.parse(exact) };
}

/** Rows as the text of a JSONL file. */
export const jsonLines = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** That a file holds more than is read. */
export const tooMany = (file: string, what: string, most: number, seen = `more than ${most}`) =>
  new AgentRlError(
    'DATASET_INVALID',
    `${file} holds ${seen} ${what}; at most ${most} are allowed. Split it into several files, or use a part of it.`,
  );
