import type { Compare } from '../../core/tasks/code-task.ts';
import { NotAPythonValue, partsOf, pythonValueProblem } from '../../core/python/python-value.ts';
import type { PythonParts, PythonValue } from '../../core/python/python-value.ts';
import { NearValues } from './near-values.ts';
import { bagKey, valueKey } from './value-key.ts';

/**
 * Whether a returned value is the expected one, as Python's `==` on plain values says: numbers by value
 * whatever their type, a list is not a tuple, sets and dictionaries have no order. One departure: nan is nan.
 *
 * `float` allows a number to be near where a float is expected; `unordered` disregards the order of the outermost list or tuple; `whitespace` is
 * `exact`, as it speaks of text. A returned value that is not a Python value is never the expected one.
 *
 * @throws NotAPythonValue when the expected value is not a Python value: the task is broken, not the program.
 */
export function compareValues(actual: unknown, expected: unknown, mode: Compare): boolean {
  const problem = pythonValueProblem(expected);
  if (problem !== undefined) throw new NotAPythonValue(problem);
  try {
    // The sizes first: that takes no longer than the expected value is large, however large the other is.
    if (!sameSizes(actual, expected, mode === 'unordered')) return false;
  } catch (error) {
    if (error instanceof NotAPythonValue) return false;
    throw error;
  }
  if (pythonValueProblem(actual) !== undefined) return false;
  return sameValues(actual as PythonValue, expected as PythonValue, mode);
}

/** Whether containers have as many members, also those within lists and tuples. Values without that are equal in no mode. */
function sameSizes(actual: unknown, expected: unknown, anyOrder = false): boolean {
  const [a, b] = [partsOf(actual), partsOf(expected)];
  const [mine, theirs] = [membersOf(a), membersOf(b)];
  if (mine?.length !== theirs?.length) return false;
  const inOrder = (b.type === 'list' || b.type === 'tuple') && a.type === b.type && !anyOrder;
  return !inOrder || b.items.every((item, i) => sameSizes(mine?.[i], item));
}

const membersOf = (parts: PythonParts): readonly unknown[] | undefined =>
  'items' in parts ? parts.items : 'pairs' in parts ? parts.pairs : undefined;

function sameValues(actual: PythonValue, expected: PythonValue, mode: Compare): boolean {
  if (mode === 'float') return new NearValues().hold(actual, expected);
  const [a, b] = [partsOf(actual), partsOf(expected)];
  const isListed = a.type === 'list' || a.type === 'tuple';
  if (mode === 'unordered' && isListed && a.type === b.type) {
    return bagKey(a.items) === bagKey(b.items);
  }
  return valueKey(actual) === valueKey(expected);
}
