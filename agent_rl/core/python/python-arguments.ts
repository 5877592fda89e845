import { NotAPythonValue, partsOf, type PythonParts } from './python-value.ts';
import { isPlainObject, seen } from './seen-value.ts';

type Problem = string | undefined;

/** Containers in containers of one argument, which every backend's Python reads without a limit of its own. */
const mostArgumentDepth = 100;
const mostChars = 16 * 1024 * 1024;

interface Place {
  /** Containers around the value. */
  readonly depth: number;
  /** Whether it is in a set or the key of a dictionary, directly or in tuples. */
  readonly hashed: boolean;
}

/** What is wrong with the arguments of calls: each must be a tagged Python value all the way down. */
export function argumentsProblem(args: unknown): Problem {
  if (!Array.isArray(args)) {
    return `args must be a list of lists of arguments, got ${seen(args)}`;
  }
  const walk = new ArgumentWalk();
  for (const [i, list] of args.entries()) {
    if (!Array.isArray(list)) {
      return `args must be a list of lists of arguments, got ${seen(list)} at ${i}`;
    }
    for (const [j, value] of list.entries()) {
      const problem = walk.problemOf(value);
      if (problem !== undefined) return `args[${i}][${j}] ${problem}`;
    }
  }
  return undefined;
}

/** What is wrong with one argument, as the end of a sentence about it. */
export const argumentProblem = (value: unknown): Problem => new ArgumentWalk().problemOf(value);

/** Looks at values until there is more of them than a request may hold: lists that share members can be endless. */
class ArgumentWalk {
  #chars = 0;

  problemOf(value: unknown, place: Place = { depth: 0, hashed: false }): Problem {
    // No less than its JSON has: a list's brackets and commas are two for itself and one for each member.
    this.#chars += typeof value === 'string' ? value.length + 3 : 2;
    if (this.#chars > mostChars) return `brings args above ${mostChars} characters`;
    const problem = kindProblem(value);
    if (problem !== undefined) return problem;
    try {
      return this.#partsProblem(partsOf(value), place);
    } catch (error) {
      if (error instanceof NotAPythonValue)
        return `holds a value that cannot be an argument: ${error.message}`;
      throw error;
    }
  }

  #partsProblem(parts: PythonParts, { depth, hashed }: Place): Problem {
    if ('base64' in parts && parts.base64.length % 4 !== 0) return 'holds no base64 as its bytes';
    if (hashed && unhashable.has(parts.type)) {
      return `holds a ${parts.type} in a set or as a key of a dictionary, which Python cannot hash`;
    }
    if (!('items' in parts) && !('pairs' in parts)) return undefined;
    if (depth >= mostArgumentDepth) {
      return `is nested more than ${mostArgumentDepth} deep, or holds itself`;
    }
    const inside = { depth: depth + 1, hashed };
    if ('items' in parts) {
      const inSet = parts.type === 'set' || parts.type === 'frozenset';
      return this.#first(parts.items, { ...inside, hashed: hashed || inSet });
    }
    const [keys, values] = [parts.pairs.map(([key]) => key), parts.pairs.map(([, item]) => item)];
    return this.#first(keys, { ...inside, hashed: true }) ?? this.#first(values, inside);
  }

  #first(values: readonly unknown[], place: Place): Problem {
    // Holes in a list are met too, as `undefined`.
    for (const value of values) {
      const problem = this.problemOf(value, place);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
}

const unhashable: ReadonlySet<PythonParts['type']> = new Set(['list', 'dict', 'set', 'bytearray']);

/** JSON would drop or change these without a word. */
function kindProblem(value: unknown): Problem {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const repr = Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
    return `holds ${value}; write {"$float": "${repr}"}`;
  }
  if (typeof value === 'bigint') return 'holds a BigInt; write {"$int": "digits"}';
  const isJson =
    value === null ||
    ['boolean', 'number', 'string'].includes(typeof value) ||
    Array.isArray(value) ||
    isPlainObject(value);
  if (isJson) return undefined;
  const kind = typeof value === 'object' ? 'an object of a class' : seen(value);
  return `holds ${kind}; allowed are null, booleans, numbers, strings, lists and plain objects`;
}
