import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

import { isRecord } from '../../../core/is-record.ts';
import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { type CanonicalRequest, requestKey } from './canonical.ts';
import { type WebFailureKind, webFailureKinds } from '../web-failure.ts';

/** An answer, by what was asked. */
export interface RecordedAnswer {
  scope: string;
  key: string;
  request: CanonicalRequest;
  /** When it was given, ISO 8601. */
  at: string;
  answer: unknown;
}

/** A failure, of this call alone. */
export interface RecordedFailure {
  scope: string;
  key: string;
  call: string;
  /** How many times this call had asked the same before. */
  repeat: number;
  failure: { kind: WebFailureKind; message: string };
}

/** A call that failed when it was recorded before, and does no more. */
export interface RecordedRecovery {
  scope: string;
  key: string;
  call: string;
  repeat: number;
  recovered: true;
}

/** Where a session of recording begins. */
export interface RecordedStart {
  scope: string;
  cassette: 1;
  at: string;
}

export type CassetteLine = RecordedAnswer | RecordedFailure | RecordedRecovery | RecordedStart;

const invalid = (path: string, problem: string): AgentRlError =>
  new AgentRlError('CASSETTE_INVALID', `The cassette ${path} ${problem}`);

export interface ReadCassetteOptions {
  /** Whether the file is written to afterwards. */
  writable: boolean;
  /** Whose answers are known. */
  scope: string;
  isAnswer: (value: unknown) => boolean;
}

/**
 * Lines of a cassette; none when there is no file. A last line that was cut short, as by a crash, is left out and,
 * where the file is written to, cut off.
 *
 * @throws AgentRlError `CASSETTE_INVALID`
 */
export function readCassette(path: string, options: ReadCassetteOptions): readonly CassetteLine[] {
  if (!existsSync(path)) return [];
  const text = readText(path);
  const end = text.lastIndexOf('\n') + 1;
  if (options.writable && end < text.length)
    truncateSync(path, Buffer.byteLength(text.slice(0, end)));
  return text
    .slice(0, end)
    .split('\n')
    .flatMap((line, index) => {
      if (line.trim() === '') return [];
      const value = parse(line);
      const problem = problemOf(value, options);
      if (problem === undefined) return [value as CassetteLine];
      throw invalid(
        path,
        `holds a line ${index + 1} that is not a record: ${problem}. Delete that line, or record anew into another file.`,
      );
    });
}

/** @throws AgentRlError `CASSETTE_INVALID` when it cannot be written. */
export function appendToCassette(path: string, line: CassetteLine): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  } catch (cause) {
    throw invalid(path, `cannot be written: ${messageOf(cause)}. Give another cassette.path.`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw invalid(path, `cannot be read: ${messageOf(cause)}.`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What keeps a line from being one that was written here. */
function problemOf(line: unknown, { scope, isAnswer }: ReadCassetteOptions): string | undefined {
  if (!isRecord(line)) return 'it is not a JSON object';
  if (typeof line['scope'] !== 'string') return '"scope" is missing';
  if (line['cassette'] === 1) return undefined;
  if (typeof line['key'] !== 'string') return '"key" is missing';
  if ('failure' in line) return failureProblem(line);
  if (line['recovered'] === true) return placeProblem(line);
  if (Number.isNaN(Date.parse(String(line['at'])))) return '"at" is not a time';
  if (!('answer' in line)) return '"answer" is missing';
  if (line['scope'] === scope && !isAnswer(line['answer'])) {
    return `"answer" is nothing that ${scope} answers`;
  }
  return requestProblem(line);
}

function failureProblem(line: Fields): string | undefined {
  const { failure } = line;
  const { kind, message } = isRecord(failure) ? failure : {};
  const known = webFailureKinds.some((one) => one === kind) && typeof message === 'string';
  if (!known) return '"failure" has no known kind and message';
  return placeProblem(line);
}

const placeProblem = ({ call, repeat }: Fields): string | undefined =>
  typeof call === 'string' && Number.isInteger(repeat)
    ? undefined
    : '"call" or "repeat" is missing';

function requestProblem({ request, key }: Fields): string | undefined {
  if (!isRecord(request)) return '"request" is missing';
  // The key is that of the request as it was made; what was taken out of it is not known here.
  if (JSON.stringify(request).includes('[redacted]') || requestKey(request) === key) {
    return undefined;
  }
  return '"key" is not that of its "request"';
}
