import type { Cut } from '../api.ts';

/** Enough to read, and little enough for a page to show. */
const mostCharacters = 100_000;

/** A copy of plain data whose very long texts are cut. @param cuts gets where */
export function cutTexts<Value>(value: Value, path: string, cuts: Cut[]): Value {
  return cutAt(value, path, cuts) as Value;
}

function cutAt(value: unknown, path: string, cuts: Cut[]): unknown {
  if (typeof value === 'string') {
    if (value.length <= mostCharacters) return value;
    cuts.push({ path, characters: value.length, shown: mostCharacters });
    return value.slice(0, mostCharacters);
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((part, at) => cutAt(part, `${path}[${at}]`, cuts));
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, cutAt(part, `${path}.${key}`, cuts)]),
  );
}
