import { pythonRepr, type PythonValue } from '../core/python-value.ts';
import type { CallResult } from '../core/sandbox.ts';

/**
 * What the calls of a program returned, or `undefined` when it is not what our own harness writes: the harness runs in
 * the program's interpreter, where the program can reach it, so nothing about this text is certain.
 */
export function readCallResults(text: string): CallResult[] | undefined {
  try {
    const results: unknown = JSON.parse(text);
    return Array.isArray(results) && results.every(isCallResult) ? results : undefined;
  } catch {
    // Text that is no JSON, or a value that Python has not: the answer is that it cannot be read.
    return undefined;
  }
}

function isCallResult(value: unknown): value is CallResult {
  if (typeof value !== 'object' || value === null) return false;
  const { ok, value: returned, problem } = value as Readonly<Record<string, unknown>>;
  if (ok === false) return typeof problem === 'string';
  if (ok !== true) return false;
  // Looks at all of the value and throws when some of it is none of Python's.
  pythonRepr(returned as PythonValue);
  return true;
}
