import { isPlainObject, seen } from '../../core/python/seen-value.ts';

/** Why a request cannot be run; `undefined` where nothing is wrong with it. */
export type Problem = string | undefined;

/** What is wrong with an object that must have no other fields than these. */
export function fieldsProblem(name: string, value: unknown, known: readonly string[]): Problem {
  if (!isPlainObject(value)) return `${name} must be an object, got ${seen(value)}`;
  const extra = Object.keys(value).find((key) => !known.includes(key));
  if (extra === undefined) return undefined;
  return `${name} has the field ${seen(extra)}, which is not known; known are ${known.join(', ')}`;
}

export function textProblem(name: string, value: unknown, most: number): Problem {
  if (typeof value !== 'string') return `${name} must be a string, got ${seen(value)}`;
  if (value.length <= most) return undefined;
  return `${name} has ${value.length} characters, at most ${most} are allowed`;
}

export function textsProblem(name: string, value: unknown): Problem {
  if (!Array.isArray(value)) return `${name} must be a list of strings, got ${seen(value)}`;
  // A hole in the list is not a string either, and only iteration meets it.
  for (const [i, item] of value.entries()) {
    if (typeof item !== 'string') {
      return `${name} must be a list of strings, got ${seen(item)} at ${i}`;
    }
  }
  return undefined;
}
