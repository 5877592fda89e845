import type { Budget } from '../budget.ts';
import type { Arithmetic } from '../syntax/nodes.ts';
import { asNumber } from './comparing.ts';
import { formatted } from './formatting.ts';
import { str } from './printing.ts';
import { asIndex, refuseBeyondIndex } from './sequences.ts';
import { Markup, Tuple, typeOf, Undefined, Unsupported, type Value } from './value.ts';

/** Bits of an integer that a power or product may have. */
const mostBits = 2 ** 16;

/** Python's `left operator right`. @throws TypeError for values that it does not take */
export function arithmetic(operator: Arithmetic, left: Value, right: Value, budget: Budget): Value {
  if (operator === '%' && typeof left === 'string') return formatted(left, right, budget);
  for (const side of [left, right]) if (side instanceof Undefined) throw new Error(side.message);
  const [x, y] = [asNumber(left), asNumber(right)];
  if (x !== undefined && y !== undefined) {
    return typeof x === 'bigint' && typeof y === 'bigint'
      ? ofIntegers[operator](x, y)
      : ofFloats[operator](asFloat(x), asFloat(y));
  }
  const joined = operator === '+' ? sum(left, right, budget) : undefined;
  const repeated = operator === '*' ? product(left, right, budget) : undefined;
  const result = joined ?? repeated;
  if (result !== undefined) return result;
  throw new TypeError(
    `unsupported operand type(s) for ${operator}: '${typeOf(left)}' and '${typeOf(right)}'`,
  );
}

export function negated(value: Value): Value {
  const number = signed(value, '-');
  return typeof number === 'bigint' ? -number : -number;
}

/** A value that may have a sign. */
export function signed(value: Value, sign: string): bigint | number {
  const number = asNumber(value);
  if (number !== undefined) return number;
  if (value instanceof Undefined) throw new Error(value.message);
  throw new TypeError(`bad operand type for unary ${sign}: '${typeOf(value)}'`);
}

const isText = (value: Value) => typeof value === 'string' || value instanceof Markup;

function sum(left: Value, right: Value, budget: Budget): Value | undefined {
  if (typeof left === 'string' && typeof right === 'string') return budget.joined(left + right);
  if (isText(left) && isText(right))
    return new Markup(budget.joined(escapedText(left, budget) + escapedText(right, budget)));
  if (left instanceof Tuple && right instanceof Tuple)
    return new Tuple(joinedLists(left.items, right.items, budget));
  if (Array.isArray(left) && Array.isArray(right))
    return joinedLists(left as readonly Value[], right as readonly Value[], budget);
  return undefined;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

/** A text as HTML, and HTML as it is. */
export function escapedText(value: Value, budget: Budget): string {
  if (value instanceof Markup) return value.text;
  const text = str(value, budget);
  budget.text(text.length);
  const escaped = text.replace(/[&<>'"]/g, (at) => {
    budget.spend(1);
    return entities[at] ?? at;
  });
  return budget.joined(escaped);
}

function joinedLists(
  left: readonly Value[],
  right: readonly Value[],
  budget: Budget,
): readonly Value[] {
  budget.items(left.length + right.length);
  return [...left, ...right];
}

function product(left: Value, right: Value, budget: Budget): Value | undefined {
  const [repeated, times] = asIndex(right) === undefined ? [right, left] : [left, right];
  const count = asIndex(times);
  if (count === undefined) return undefined;
  refuseBeyondIndex(count);
  const length = Number(count < 0n ? 0n : count);
  if (typeof repeated === 'string') {
    budget.text(repeated.length * length);
    return repeated.length === 0 ? '' : repeated.repeat(length);
  }
  const items = repeated instanceof Tuple ? repeated.items : repeated;
  if (!Array.isArray(items)) return undefined;
  budget.items(items.length * length);
  const many =
    items.length === 0 ? [] : Array.from({ length }, () => items as readonly Value[]).flat();
  return repeated instanceof Tuple ? new Tuple(many) : many;
}

/** @throws Error as Python does for an integer that no float can hold */
export function asFloat(value: bigint | number): number {
  const float = Number(value);
  if (typeof value === 'bigint' && !Number.isFinite(float))
    throw new Error('int too large to convert to float');
  return float;
}

const ofIntegers: Readonly<Record<Arithmetic, (x: bigint, y: bigint) => Value>> = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => {
    refuseHuge(bitsOf(x) + bitsOf(y));
    return x * y;
  },
  '/': (x, y) => quotient(x, y),
  '**': (x, y) => power(x, y),
  '//': (x, y) => (x - restOf(x, y)) / y,
  '%': (x, y) => restOf(x, y),
};

function restOf(x: bigint, y: bigint): bigint {
  if (y === 0n) throw byZero();
  return ((x % y) + y) % y;
}

export function quotient(x: bigint, y: bigint): number {
  if (y === 0n) throw byZero();
  const [a, b] = [Number(x), Number(y)];
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b))
    throw new Unsupported('dividing integers beyond 2**53');
  return a / b;
}

function power(x: bigint, y: bigint): Value {
  if (y < 0n) return floatPower(asFloat(x), asFloat(y));
  refuseHuge(bitsOf(x) * Number(y));
  return x ** y;
}

const bitsOf = (value: bigint): number => value.toString(16).length * 4;

function refuseHuge(bits: number): void {
  if (bits > mostBits) throw new Unsupported(`an integer of more than ${mostBits} bits`);
}

const ofFloats: Readonly<Record<Arithmetic, (x: number, y: number) => number>> = {
  '+': (x, y) => x + y,
  '-': (x, y) => x - y,
  '*': (x, y) => x * y,
  '**': (x, y) => floatPower(x, y),
  '/': (x, y) => {
    if (y === 0) throw byZero();
    return x / y;
  },
  '//': (x, y) => divided(x, y)[0],
  '%': (x, y) => divided(x, y)[1],
};

function floatPower(x: number, y: number): number {
  if (x === 0 && y < 0) throw byZero();
  if (y === 2) return finite(x * x, x);
  if (y === -1) return finite(1 / x, x);
  if (y === 0.5 && x >= 0) return Math.sqrt(x);
  const result = x ** y;
  // The last digit of other powers depends on who computes them.
  if (Number.isSafeInteger(result) && Number.isInteger(x) && y >= 0) return result;
  throw new Unsupported(`the power ${x} ** ${y}`);
}

/** @throws Error as Python does where a result is too large for a float */
function finite(result: number, of: number): number {
  if (!Number.isFinite(result) && Number.isFinite(of)) throw new Error('Result too large');
  return result;
}

/** Python's `divmod` of floats. */
function divided(x: number, y: number): [number, number] {
  if (y === 0) throw byZero();
  let rest = x % y;
  let whole = (x - rest) / y;
  if (rest !== 0 && rest < 0 !== y < 0) {
    rest += y;
    whole -= 1;
  } else if (rest === 0) rest = Math.sign(y) === -1 ? -0 : 0;
  const floor = Math.floor(whole);
  const rounded = whole - floor > 0.5 ? floor + 1 : floor;
  return [whole === 0 ? (x / y > 0 || Object.is(x / y, 0) ? 0 : -0) : rounded, rest];
}

const byZero = (): Error => new Error('division by zero');
