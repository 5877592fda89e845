import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

import { type Static, type TSchema, Type, Value } from '../../../core/typebox.ts';
import { isRecord } from '../../../core/is-record.ts';
import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { canonicalJson } from '../../../core/services/canonical-json.ts';
import { JsonShape } from '../../../core/wire/json-shape.ts';
import { webFailureKinds } from '../web-failure.ts';

/** The key of a recorded request; it contains no secret. */
export type CanonicalRequest = Readonly<Record<string, unknown>>;

/** SHA-256 of a request's canonical JSON. */
export const requestKey = (request: CanonicalRequest): string =>
  createHash('sha256').update(canonicalJson(request)).digest('hex');

const string = Type.String();
/** `repeat`: how many times the call had asked the same before. */
const place = { scope: string, key: string, call: string, repeat: Type.Integer() };

/** An answer, by what was asked; `at` is when it was given, ISO 8601. */
const RecordedAnswer = Type.Object({
  scope: string,
  key: string,
  request: Type.Record(Type.String(), Type.Unknown()),
  at: string,
  answer: Type.Unknown(),
});

const RecordedFailure = Type.Object({
  ...place,
  failure: Type.Object({ kind: Type.Enum([...webFailureKinds]), message: string }),
});

/** A call that failed in an earlier recording and succeeded in this one. */
const RecordedRecovery = Type.Object({ ...place, recovered: Type.Literal(true) });

const RecordedStart = Type.Object({ scope: string, cassette: Type.Literal(1), at: string });

export type CassetteLine =
  | Static<typeof RecordedAnswer>
  | Static<typeof RecordedFailure>
  | Static<typeof RecordedRecovery>
  | Static<typeof RecordedStart>;

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
        `is invalid in line ${index + 1}: ${problem}. Delete that line, or record again into another file.`,
      );
    });
}

/** @throws AgentRlError `CASSETTE_INVALID` when it cannot be written. */
export function appendToCassette(path: string, line: CassetteLine): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  } catch (cause) {
    throw invalid(path, `cannot be written: ${messageOf(cause)}. Choose another cassette.path.`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw invalid(path, `cannot be read: ${messageOf(cause)}.`);
  }
}

function parse(line: string): unknown {
  try {
    const tooMuch = new JsonShape().add(Buffer.from(line)).problem(Infinity);
    return tooMuch === undefined ? JSON.parse(line) : undefined;
  } catch {
    return undefined;
  }
}

const schemaOf = (line: object): TSchema => {
  if ('cassette' in line) return RecordedStart;
  if ('failure' in line) return RecordedFailure;
  return 'recovered' in line ? RecordedRecovery : RecordedAnswer;
};

/** What keeps a line from being one that was written here. */
function problemOf(line: unknown, { scope, isAnswer }: ReadCassetteOptions): string | undefined {
  if (!isRecord(line)) return 'it is not a JSON object';
  const schema = schemaOf(line);
  if (!Value.Check(schema, line)) {
    const [error] = Value.Errors(schema, line);
    return `it${error?.instancePath ?? ''} ${error?.message ?? 'has another shape'}`;
  }
  if (schema !== RecordedAnswer) return undefined;
  const { at, answer, key, request, scope: own } = line as Static<typeof RecordedAnswer>;
  if (Number.isNaN(Date.parse(at))) return '"at" is not a time';
  if (own === scope && !isAnswer(answer))
    return `"answer" is not an answer that the tool ${scope} could have received`;
  // The key is that of the request as it was made; what was taken out of it is not known here.
  const known = JSON.stringify(request).includes('[redacted]') || requestKey(request) === key;
  return known ? undefined : '"key" does not match its "request"';
}
