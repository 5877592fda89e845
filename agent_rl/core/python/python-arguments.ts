import { NotAPythonValue, partsOf, type PythonParts } from './python-value.ts';
import { isPlainObject, seen } from './seen-value.ts';

type Problem = string | undefined;

/** Containers in containers of one argument, which every backend's Python reads without a limit of its own. */
const mostArgumentDepth = 100;
const mostChars = 16 * 1024 * 1024;

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

/** Visits values until there are more of them than a request may hold: lists that share members can be endless. */
class ArgumentWalk {
  #chars = 0;
  /** Containers that are valid where they were met, and the characters in them: one may be met many times. */
  readonly #valid = new Map<unknown, { depth: number; hashed: boolean; chars: number }>();

  /**
   * @param depth containers around the value
   * @param hashed whether it is in a set or the key of a dictionary, directly or in tuples
   */
  problemOf(value: unknown, depth = 0, hashed = false): Problem {
    // At least as many as its JSON has: a list's brackets and commas are two for itself and one for each member.
    const problem =
      this.#countProblem(typeof value === 'string' ? value.length + 3 : 2) ?? kindProblem(value);
    if (problem !== undefined) return problem;
    let parts: PythonParts;
    try {
      parts = partsOf(value);
    } catch (error) {
      if (!(error instanceof NotAPythonValue)) throw error;
      return `holds a value that cannot be an argument: ${error.message}`;
    }
    if ('base64' in parts && parts.base64.length % 4 !== 0)
      return 'has bytes that are not valid base64';
    if (hashed && unhashable.has(parts.type)) {
      return `holds a ${parts.type} in a set or as a dictionary key, but Python cannot hash a ${parts.type}`;
    }
    if (!('items' in parts) && !('pairs' in parts)) return undefined;
    if (depth >= mostArgumentDepth) {
      return `is nested more than ${mostArgumentDepth} deep, or contains itself`;
    }
    const known = this.#valid.get(value);
    if (known !== undefined && depth <= known.depth && hashed === known.hashed) {
      return this.#countProblem(known.chars);
    }
    const before = this.#chars;
    const inside = this.#insideProblem(parts, depth + 1, hashed);
    this.#valid.set(value, { depth, hashed, chars: this.#chars - before });
    return inside;
  }

  #countProblem(chars: number): Problem {
    this.#chars += chars;
    return this.#chars > mostChars
      ? `makes args longer than ${mostChars} characters in total`
      : undefined;
  }

  #insideProblem(parts: Containers, depth: number, hashed: boolean): Problem {
    if ('items' in parts) {
      const inSet = parts.type === 'set' || parts.type === 'frozenset';
      return this.#first(parts.items, depth, hashed || inSet);
    }
    const [keys, values] = [parts.pairs.map(([key]) => key), parts.pairs.map(([, item]) => item)];
    return this.#first(keys, depth, true) ?? this.#first(values, depth, hashed);
  }

  #first(values: readonly unknown[], depth: number, hashed: boolean): Problem {
    // Holes in a list are met too, as `undefined`.
    for (const value of values) {
      const problem = this.problemOf(value, depth, hashed);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
}

type Containers = Extract<PythonParts, { items: unknown } | { pairs: unknown }>;

const unhashable: ReadonlySet<PythonParts['type']> = new Set(['list', 'dict', 'set', 'bytearray']);

/** JSON would silently drop or change these. */
function kindProblem(value: unknown): Problem {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return undefined;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return undefined;
    const repr = Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
    return `holds ${value}; write {"$float": "${repr}"}`;
  }
  if (Array.isArray(value) || isPlainObject(value)) return undefined;
  if (typeof value === 'bigint') return 'holds a BigInt; write {"$int": "digits"}';
  const kind = typeof value === 'object' ? 'an object of a class' : seen(value);
  return `holds ${kind}; allowed are null, booleans, numbers, strings, lists and plain objects`;
}
