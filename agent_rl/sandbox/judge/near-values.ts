import { partsOf, type PythonParts, type PythonValue } from '../../core/python/python-value.ts';
import { isNumber, numberKey, type NumberParts, valueKey } from './value-key.ts';

/** Two floats are near when they differ by no more than this share of the expected one. */
const relativeTolerance = 1e-6;
/** Of what is expected to be 0 there is no share. Only then: 0 is not near a small number. */
const toleranceOfZero = 1e-9;

/** Whether a number is near the expected one. An infinite one is near none but itself, nan is near nan. */
export function near(actual: number, expected: number): boolean {
  if (Object.is(actual, expected) || actual === expected) return true;
  // A tolerance that is a share of infinity would let every number pass.
  if (!Number.isFinite(actual) || !Number.isFinite(expected)) return false;
  const tolerance = expected === 0 ? toleranceOfZero : relativeTolerance * Math.abs(expected);
  return Math.abs(actual - expected) <= tolerance;
}

/** Values looked at before the comparison is given up: half a second. */
const mostSteps = 2_000_000;

/** One comparison of two values, which may hold numbers near the expected floats instead of equal ones. */
export class NearValues {
  #steps = 0;

  /**
   * Whether the values are equal but for numbers that are near expected floats; where a boolean or a tagged integer is
   * expected, only what Python's `==` calls equal to it will do. JSON writes 2.0 and 2 alike, so what it has as a whole
   * number is that integer, or a float near it. What takes more than two million steps does not hold: only sets and
   * dictionaries of many nearly equal members come near it.
   */
  hold(actual: PythonValue, expected: PythonValue): boolean {
    if (++this.#steps > mostSteps) return false;
    const [a, b] = [partsOf(actual), partsOf(expected)];
    if (isNumber(a) && isNumber(b)) return nearNumbers(a, b, typeof expected === 'number');
    if ('pairs' in a && 'pairs' in b) return this.#sameBags(asTuples(a.pairs), asTuples(b.pairs));
    if ('items' in a && 'items' in b) {
      if (isSet(a) && isSet(b)) return this.#sameBags(a.items, b.items);
      return a.type === b.type && this.#sameLists(a.items, b.items);
    }
    if (a.type === 'str' && b.type === 'str') return a.value === b.value;
    return valueKey(actual) === valueKey(expected);
  }

  #sameLists(actual: readonly PythonValue[], expected: readonly PythonValue[]): boolean {
    return (
      actual.length === expected.length &&
      actual.every((item, i) => this.hold(item, expected[i] ?? null))
    );
  }

  /** Whether each member has its own partner. Both are sorted, so that the first one tried is mostly the one. */
  #sameBags(actual: readonly PythonValue[], expected: readonly PythonValue[]): boolean {
    if (actual.length !== expected.length) return false;
    const [mine, theirs] = [sorted(actual), sorted(expected)];
    const taken = new Set<number>();
    let first = 0;
    return mine.every((item) => {
      while (taken.has(first)) first++;
      let place = first;
      while (place < theirs.length) {
        if (!taken.has(place) && this.hold(item, theirs[place] ?? null)) break;
        place++;
      }
      taken.add(place);
      return place < theirs.length && this.#steps <= mostSteps;
    });
  }
}

type Listed = Extract<PythonParts, { items: unknown }>;

const isSet = ({ type }: Listed): boolean => type === 'set' || type === 'frozenset';

const asTuples = (
  pairs: readonly (readonly [PythonValue, PythonValue])[],
): readonly PythonValue[] => pairs.map((pair) => ({ $tuple: pair }));

function nearNumbers(a: NumberParts, b: NumberParts, fromJson: boolean): boolean {
  if (numberKey(a) === numberKey(b)) return true;
  if (a.type === 'bool' || b.type === 'bool') return false;
  if (b.type === 'int' && !(fromJson && a.type === 'float')) return false;
  const [x, y] = [complexOf(a), complexOf(b)];
  // An integer beyond the floats is not infinity.
  if ((a.type === 'int' || b.type === 'int') && ![x, y].flat().every(Number.isFinite)) return false;
  return near(x[0], y[0]) && near(x[1], y[1]);
}

function complexOf(parts: NumberParts): readonly [number, number] {
  if (parts.type === 'complex') return [parts.real, parts.imaginary];
  return [parts.type === 'float' ? parts.value : Number(numberKey(parts)), 0];
}

/** What a member is sorted by: its numbers in a row, and its key where it holds none. */
function sorted(items: readonly PythonValue[]): readonly PythonValue[] {
  return items
    .map((item) => ({ item, order: orderOf(item) }))
    .toSorted((a, b) => compareOrders(a.order, b.order))
    .map(({ item }) => item);
}

type Order = readonly (number | string)[];

function orderOf(value: PythonValue): Order {
  const parts = partsOf(value);
  if (isNumber(parts)) return complexOf(parts).map((x) => (Number.isNaN(x) ? 'nan' : x));
  if (parts.type === 'list' || parts.type === 'tuple') return parts.items.flatMap(orderOf);
  return 'items' in parts || 'pairs' in parts ? [parts.type] : [valueKey(value)];
}

function compareOrders(a: Order, b: Order): number {
  for (const [i, x] of a.entries()) {
    const y = b[i];
    if (y === undefined) return 1;
    if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;
    if (x < y) return -1;
    if (x > y) return 1;
  }
  return a.length - b.length;
}
