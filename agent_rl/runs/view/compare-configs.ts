import { isDeepStrictEqual } from 'node:util';

import { isRecord } from '../../core/is-record.ts';
import type { ConfigDifference } from './api.ts';

/** Settings one by one, each with its dotted path; lists are settings by their places. */
export function flatSettings(value: unknown, path = ''): [string, unknown][] {
  const parts = isRecord(value)
    ? Object.entries(value)
    : Array.isArray(value)
      ? [...value.entries()]
      : [];
  if (parts.length === 0) return [[path, value]];
  return parts.flatMap(([key, part]) =>
    flatSettings(part, path === '' ? String(key) : `${path}.${key}`),
  );
}

/** Settings in which two differ, in the order of their paths. */
export function settingDifferences(a: unknown, b: unknown): ConfigDifference[] {
  const [one, other] = [new Map(flatSettings(a)), new Map(flatSettings(b))];
  const paths = [...new Set([...one.keys(), ...other.keys()])].toSorted();
  return paths
    .filter((path) => !isDeepStrictEqual(one.get(path), other.get(path)))
    .map((path) => difference(path, one, other));
}

// JSON leaves out what is undefined: there is no such setting.
const difference = (
  path: string,
  one: ReadonlyMap<string, unknown>,
  other: ReadonlyMap<string, unknown>,
): ConfigDifference => ({ path, a: one.get(path), b: other.get(path) });
