import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { isRecord } from '#agent_rl/core/is-record.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';

// What clients ask of servers that others wrote, refusals included, and what a real server answered: a file below tests/fixtures. The
// double of the server is made of it, and `npm run test:real` asks a real one again.

export interface Exchange {
  /** What it shows. */
  name: string;
  method: 'GET' | 'POST';
  path: string;
  body?: Readonly<Record<string, unknown>>;
  status: number;
  /** The answer; its text where it is not JSON. */
  answer: unknown;
}

export interface CapturedExchanges {
  server: string;
  version: string;
  exchanges: Exchange[];
}

/** A JSON file below tests/fixtures. */
export const readFixture = (...path: string[]): unknown =>
  JSON.parse(readFileSync(join(packageRoot(), 'tests', 'fixtures', ...path), 'utf8'));

export const captured = (file: string): CapturedExchanges => readFixture(file) as CapturedExchanges;

/** Asks a server again what was asked of another. */
export async function exchanged(url: string, known: readonly Exchange[]): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const asked of known) {
    const { method, path, body } = asked;
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const answer = await fetch(url + path, { method, ...sent });
    const text = await answer.text();
    exchanges.push({ ...asked, status: answer.status, answer: parsed(text) });
  }
  return exchanges;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Exchanges with the kinds of values instead of values that differ from model to model. @param told names of values that count, with spaces between */
export function comparableBy(told: string) {
  const names = new Set(told.split(' '));
  function kindsOf(value: unknown): unknown {
    if (Array.isArray(value)) return value.length === 0 ? [] : [kindsOf(value[0])];
    if (!isRecord(value)) return value === null ? null : typeof value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, names.has(key) ? inner : kindsOf(inner)]),
    );
  }
  return (exchanges: readonly Exchange[]) =>
    exchanges.map(({ name, status, answer }) => ({ name, status, answer: kindsOf(answer) }));
}
