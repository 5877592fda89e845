import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { CanonicalRequest } from './canonical.ts';
import type { WebFailureKind } from './web-failure.ts';

/** An answer, by what was asked. */
export interface RecordedAnswer {
  readonly scope: string;
  readonly key: string;
  readonly request: CanonicalRequest;
  /** When it was given, ISO 8601. */
  readonly at: string;
  readonly answer: unknown;
}

/** A failure, which is nobody's but the call's that met it. */
export interface RecordedFailure {
  readonly scope: string;
  readonly key: string;
  readonly call: string;
  /** How many times this call had asked the same before. */
  readonly repeat: number;
  readonly failure: { readonly kind: WebFailureKind; readonly message: string };
}

/** Where a recording begins. Failures before the last one belong to other runs. */
export interface RecordedStart {
  readonly scope: string;
  readonly cassette: 1;
  readonly at: string;
}

export type CassetteLine = RecordedAnswer | RecordedFailure | RecordedStart;

const invalid = (path: string, problem: string): AgentRlError =>
  new AgentRlError('CASSETTE_INVALID', `The cassette ${path} ${problem}`);

/**
 * Lines of a cassette; none when there is no file. A last line that was cut short, as by a crash, is left out and,
 * where the file is written to, cut off.
 *
 * @throws AgentRlError `CASSETTE_INVALID`
 */
export function readCassette(
  path: string,
  { writable }: { readonly writable: boolean },
): readonly CassetteLine[] {
  if (!existsSync(path)) return [];
  const text = readText(path);
  const end = text.lastIndexOf('\n') + 1;
  if (writable && end < text.length) truncateSync(path, Buffer.byteLength(text.slice(0, end)));
  return text
    .slice(0, end)
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [parse(path, line, index + 1)]));
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

function parse(path: string, line: string, number: number): CassetteLine {
  const problem = `holds a line ${number} that is no record. Delete that line, or record anew into another file.`;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalid(path, problem);
  }
  if (!isLine(value)) throw invalid(path, problem);
  return value;
}

function isLine(value: unknown): value is CassetteLine {
  if (typeof value !== 'object' || value === null) return false;
  const line = value as Partial<Record<string, unknown>>;
  if (typeof line['scope'] !== 'string') return false;
  if (line['cassette'] === 1) return true;
  if (typeof line['key'] !== 'string') return false;
  const failed = line['failure'] as Partial<RecordedFailure['failure']> | undefined;
  return (
    ('answer' in line && typeof line['at'] === 'string') ||
    (typeof failed?.kind === 'string' && typeof failed.message === 'string')
  );
}
