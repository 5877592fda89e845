import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

import { AgentRlError, messageOf, nodeCodeOf } from '../../agent_rl/core/errors.ts';
import type { DatasetProblem } from '../tasks/dataset-problem.ts';

/** A line that could be read as JSON, or what is wrong with it. */
export type JsonLine = { line: number; value: unknown } | { line: number; problem: DatasetProblem };

/** Reads JSON. @throws SyntaxError */
export type ParseJson = (json: string) => unknown;

/**
 * The lines of a JSONL file. Blank lines are skipped.
 *
 * @yields Each other line, numbered from 1 with the blank ones.
 * @throws AgentRlError `DATASET_INVALID` when the file cannot be read.
 */
export async function* readJsonLines(
  file: string,
  parse: ParseJson = JSON.parse,
): AsyncGenerator<JsonLine> {
  // One character per byte: readline would replace invalid UTF-8, and split at U+2028 inside a string.
  const input = createReadStream(file, { encoding: 'latin1' });
  let line = 0;
  try {
    for await (const bytes of createInterface({ input, crlfDelay: Infinity })) {
      line += 1;
      if (bytes.trim() !== '') yield parseLine(bytes, line, parse);
    }
  } catch (error) {
    if (nodeCodeOf(error) === '') throw error;
    throw unreadable(file, error, 'Give the path of a JSONL file.');
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

function parseLine(latin1: string, line: number, parse: ParseJson): JsonLine {
  const wrong = (text: string, value?: string): JsonLine => ({
    line,
    problem: { line, path: '', text, ...(value !== undefined && { value }) },
  });
  const bytes = Buffer.from(latin1, 'latin1');
  if (!isUtf8(bytes)) return wrong('is not UTF-8; save the file as UTF-8.');
  try {
    return { line, value: parse(decoder.decode(bytes)) };
  } catch (error) {
    const why = messageOf(error);
    return wrong(`is not JSON (${why}); expected one object on a line.`, why);
  }
}

/** Rows as the text of a JSONL file. */
export const jsonLines = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');
