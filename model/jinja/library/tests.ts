import type { Budget } from '../budget.ts';
import { arithmetic } from '../values/arithmetic.ts';
import { asNumber, contains, equals, order } from '../values/comparing.ts';
import { str } from '../values/printing.ts';
import { lengthIfAny } from '../values/sequences.ts';
import {
  Callable,
  Dict,
  Loop,
  Markup,
  Undefined,
  Unsupported,
  type Value,
  View,
} from '../values/value.ts';
import { isIterable } from './attributes.ts';
import { type Bound, takes } from './bind.ts';
import { isOf } from './cases.ts';

/** A test: its parameters as `bind` reads them, and what it asks. */
export type Test = readonly [
  parameters: string,
  holds: (value: Value, bound: Bound, budget: Budget) => boolean,
];

const compared = (holds: (order: number) => boolean): Test =>
  takes('other', (value, [other = null], budget) => holds(order(value, other, budget)));

const equal: Test = ['other', (value, [other = null], budget) => equals(value, other, budget)];
const unequal: Test = ['other', (value, [other = null], budget) => !equals(value, other, budget)];
const less = compared((found) => found < 0);
const lessOrEqual = compared((found) => found <= 0);
const greater = compared((found) => found > 0);
const greaterOrEqual = compared((found) => found >= 0);

const restIs = (value: Value, divisor: Value, rest: bigint, budget: Budget): boolean =>
  equals(arithmetic('%', value, divisor, budget), rest, budget);

export const tests: Readonly<Record<string, Test>> = {
  defined: ['', (value) => !(value instanceof Undefined)],
  undefined: ['', (value) => value instanceof Undefined],
  none: ['', (value) => value === null],
  boolean: ['', (value) => typeof value === 'boolean'],
  true: ['', (value) => value === true],
  false: ['', (value) => value === false],
  integer: ['', (value) => typeof value === 'bigint'],
  float: ['', (value) => typeof value === 'number'],
  number: ['', (value) => asNumber(value) !== undefined],
  string: ['', (value) => typeof value === 'string' || value instanceof Markup],
  escaped: ['', (value) => value instanceof Markup],
  mapping: ['', (value) => value instanceof Dict],
  sequence: takes(
    '',
    (value, _, budget) =>
      lengthIfAny(value, budget) !== undefined &&
      !(value instanceof View) &&
      !(value instanceof Loop),
  ),
  iterable: ['', isIterable],
  callable: ['', (value) => value instanceof Callable || value instanceof Undefined],
  odd: ['', (value, _, budget) => restIs(value, 2n, 1n, budget)],
  even: ['', (value, _, budget) => restIs(value, 2n, 0n, budget)],
  divisibleby: ['num', (value, [by = null], budget) => restIs(value, by, 0n, budget)],
  lower: ['', (value, _, budget) => isOf('lower', str(value, budget))],
  upper: ['', (value, _, budget) => isOf('upper', str(value, budget))],
  in: ['seq', (value, [seq = null], budget) => contains(seq, value, budget)],
  sameas: ['other', (value, [other = null]) => isSameObject(value, other)],
  eq: equal,
  equalto: equal,
  '==': equal,
  ne: unequal,
  '!=': unequal,
  lt: less,
  lessthan: less,
  '<': less,
  le: lessOrEqual,
  '<=': lessOrEqual,
  gt: greater,
  greaterthan: greater,
  '>': greater,
  ge: greaterOrEqual,
  '>=': greaterOrEqual,
};

/** Python's `is`, where it does not depend on how values are kept. */
function isSameObject(a: Value, b: Value): boolean {
  if (['bigint', 'number', 'string'].includes(typeof a) && a === b)
    throw new Unsupported('sameas of numbers or texts');
  return a === b;
}
