import type { Budget } from '../budget.ts';
import { asNumber } from './comparing.ts';
import { lengthOf } from './python-text.ts';
import { digitsOf, repr, str } from './printing.ts';
import { Dict, Tuple, typeOf, Undefined, Unsupported, type Value } from './value.ts';

const directive = /%(?:\((\w+)\))?([-+ 0#]*)(\d*)(?:\.(\d+))?(.)|%$/gsu;
const widest = 1000;

/** Python's `pattern % given`. */
export function formatted(pattern: string, given: Value, budget: Budget): string {
  if (given instanceof Undefined && !pattern.includes('%')) throw new Error(given.message);
  const values = given instanceof Tuple ? [...given.items] : [given];
  let taken = 0;
  const next = (name: string | undefined): Value => {
    if (name !== undefined) return memberOf(given, name);
    const value = values[taken++];
    if (value === undefined) throw new TypeError('not enough arguments for format string');
    return value;
  };
  let isNamed = false;
  const text = pattern.replace(directive, (whole, name?: string, ...rest: string[]) => {
    const [flags = '', width = '', precision, letter] = rest;
    if (letter === undefined) throw new Error('incomplete format');
    if (letter === '%') {
      if (whole !== '%%') throw new Unsupported(`the format ${whole}`);
      return '%';
    }
    isNamed ||= name !== undefined;
    if (/[^-0]/.test(flags) || Number(width) > widest) throw new Unsupported(`the format ${whole}`);
    const shown = directed(letter, precision, next(name), budget);
    budget.text(Math.max(shown.length, Number(width)));
    return padded(shown, flags, Number(width), 'di'.includes(letter) || letter === 'f');
  });
  if (!isNamed && taken < values.length && !(given instanceof Dict))
    throw new TypeError('not all arguments converted during string formatting');
  budget.text(text.length);
  return text;
}

function memberOf(given: Value, name: string): Value {
  const value = given instanceof Dict ? given.get(name) : undefined;
  if (value === undefined) throw new TypeError(`format requires a mapping with ${name}`);
  return value;
}

function directed(
  letter: string,
  precision: string | undefined,
  value: Value,
  budget: Budget,
): string {
  if (letter === 'f') return fixed(value, Number(precision ?? 6));
  if (precision !== undefined) throw new Unsupported(`a precision of %${letter}`);
  if (letter === 's') return str(value, budget);
  if (letter === 'r') return repr(value, budget);
  if (letter !== 'd' && letter !== 'i') throw new Unsupported(`the format %${letter}`);
  const number = asNumber(value);
  if (number === undefined)
    throw new TypeError(`%d format: a real number is required, not ${typeOf(value)}`);
  return digitsOf(typeof number === 'bigint' ? number : BigInt(Math.trunc(number)), budget);
}

function padded(shown: string, flags: string, width: number, isNumber: boolean): string {
  const missing = Math.max(0, width - lengthOf(shown));
  if (flags.includes('-')) return shown + ' '.repeat(missing);
  if (!flags.includes('0') || !isNumber) return ' '.repeat(missing) + shown;
  const sign = shown.startsWith('-') ? '-' : '';
  return sign + '0'.repeat(missing) + shown.slice(sign.length);
}

/** A number with some digits after its point. */
export function fixed(value: Value, digits: number): string {
  const number = asNumber(value);
  if (number === undefined) throw new TypeError(`must be real number, not ${typeOf(value)}`);
  const float = Number(number);
  if (digits > 100 || !Number.isFinite(float) || Math.abs(float) >= 1e21)
    throw new Unsupported(`%.${digits}f of ${float}`);
  return roundedText(float, digits);
}

/** Rounds to some digits after the point; what lies halfway goes to the even digit, as in Python. */
export function roundedText(float: number, digits: number): string {
  const text = float.toFixed(digits);
  const sign = Object.is(float, -0) ? '-' : '';
  // JavaScript rounds halves up in size; a float lies halfway only where its digits end one place later, in a 5.
  const longer = Math.abs(float).toFixed(Math.min(100, digits + 30));
  const point = longer.indexOf('.');
  const after = longer.slice(point + 1 + digits);
  const last = text.at(-1) ?? '0';
  if (!/^50*$/.test(after) || Number(last) % 2 === 0) return sign + text;
  return (
    sign +
    (Math.sign(float) < 0 ? '-' : '') +
    longer.slice(0, point + (digits > 0 ? 1 + digits : 0))
  );
}
