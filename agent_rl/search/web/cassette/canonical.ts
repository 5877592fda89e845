import { createHash } from 'node:crypto';

type Json = string | number | boolean | null | readonly Json[] | { [key: string]: Json };

/** What a recorded request is known by. Holds no secret. */
export type CanonicalRequest = Readonly<Record<string, unknown>>;

/** JSON whose text depends on the value alone: keys are sorted, what is undefined is left out. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(JSON.parse(JSON.stringify(value)) as Json));
}

function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  const entries = Object.entries(value as Readonly<Record<string, Json>>);
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sorted(part)]),
  );
}

/** SHA-256 of a request's canonical JSON. */
export const requestKey = (request: CanonicalRequest): string =>
  createHash('sha256').update(canonicalJson(request)).digest('hex');
