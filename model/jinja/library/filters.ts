import type { Budget } from '../budget.ts';
import { asFloat, escapedText, quotient } from '../values/arithmetic.ts';
import { asNumber } from '../values/comparing.ts';
import { formatted, roundedText } from '../values/formatting.ts';
import { JsonWriter } from '../values/json-writer.ts';
import { str } from '../values/printing.ts';
import { lengthOf, pythonSpace, sliceOf, strip } from '../values/python-text.ts';
import { asIndex, isTrue } from '../values/sequences.ts';
import {
  Dict,
  Markup,
  Tuple,
  typeOf,
  Undefined,
  Unsupported,
  type Value,
} from '../values/value.ts';
import { asCount, asText, asTextIfAny } from './arguments.ts';
import { ownAttribute } from './attributes.ts';
import { type Filter, takes } from './bind.ts';
import { capitalized, lowered, uppered } from './cases.ts';
import { listFilters } from './list-filters.ts';
import { lineEnds, replaced, textMethod } from './text-methods.ts';

const ofText = (change: (text: string, budget: Budget) => string): Filter =>
  takes('', (value, _, budget) => {
    const text = plainText(value, budget);
    budget.text(text.length);
    return change(text, budget);
  });

/** The text of a value that Python keeps no HTML of. */
function plainText(value: Value, budget: Budget): string {
  if (value instanceof Markup) throw new Unsupported('changing a Markup');
  return str(value, budget);
}

const byDefault: Filter = takes(
  'default_value? boolean?',
  (value, [instead = '', boolean = false]) =>
    value instanceof Undefined || (isTrue(boolean) && !isTrue(value)) ? instead : value,
);

const textFilters: Readonly<Record<string, Filter>> = {
  string: ['', (value, _, budget) => (value instanceof Markup ? value : str(value, budget))],
  upper: ofText(uppered),
  lower: ofText(lowered),
  capitalize: ofText(capitalized),
  title: ofText((text, budget) => {
    budget.spend(text.length);
    return text
      .split(new RegExp(`([-${pythonSpace}({\\[<]+)`))
      .map((part) => {
        const [first = ''] = part;
        return uppered(first) + lowered(part.slice(first.length));
      })
      .join('');
  }),
  trim: takes('chars?', (value, [characters], budget) => {
    const text = plainText(value, budget);
    budget.text(text.length);
    return strip(text, 'strip', asTextIfAny(characters, 'trim'));
  }),
  replace: takes('old new count?', (value, [old = null, now = null, count = null], budget) => {
    const texts = [str(old, budget), str(now, budget)] as const;
    const times = asCount(count === null ? undefined : count, -1, 'replace');
    return replaced(str(value, budget), texts, times, budget);
  }),
  center: takes('width?', (value, [width = 80n], budget) =>
    textMethod(plainText(value, budget), 'center', budget)!.call({
      positional: [width],
      keywords: new Map(),
    }),
  ),
  indent: takes(
    'width? first? blank?',
    (value, [width = 4n, first = false, blank = false], budget) => {
      const by = typeof width === 'string' ? width : ' '.repeat(indentOf(width, budget));
      return indented(asText(value, 'indent'), by, [isTrue(first), isTrue(blank)], budget);
    },
  ),
  truncate: takes(
    'length? killwords? end? leeway?',
    (value, [most, killWords = false, ending = '...', leeway], budget) => {
      const [text, end] = [asText(value, 'truncate'), asText(ending, 'truncate')];
      const length = asCount(most, 255, 'truncate');
      const more = asCount(leeway === null ? undefined : leeway, 5, 'truncate');
      if (length < lengthOf(end) || more < 0) throw new Error('truncate: the length is too small');
      budget.text(text.length);
      if (lengthOf(text) <= length + more) return text;
      const cut = sliceOf(text, 0, length - lengthOf(end));
      const space = cut.lastIndexOf(' ');
      return (isTrue(killWords) || space < 0 ? cut : cut.slice(0, space)) + end;
    },
  ),
  wordcount: takes('', (value, _, budget) => {
    const text = plainText(value, budget);
    budget.text(text.length);
    if (/[^\p{ASCII}]/u.test(text)) throw new Unsupported('wordcount of a text that is not ASCII');
    const words = text.match(/\w+/g)?.length ?? 0;
    budget.spend(words);
    return BigInt(words);
  }),
};

const indentOf = (width: Value, budget: Budget): number => {
  const count = Math.max(0, asCount(width, 0, 'indent'));
  budget.text(count);
  return count;
};

function indented(
  text: string,
  by: string,
  [first, blank]: readonly [boolean, boolean],
  budget: Budget,
): string {
  const lines = `${text}\n`.split(lineEnds).slice(0, -1);
  budget.text(text.length + lines.length * by.length);
  budget.spend(lines.length);
  const [start = '', ...rest] = lines;
  const behind = rest.map((line) => `\n${line === '' && !blank ? '' : by}${line}`).join('');
  return (first ? by : '') + start + behind;
}

const numberFilters: Readonly<Record<string, Filter>> = {
  abs: takes('', (value) => {
    const number = asNumber(value);
    if (number === undefined) throw badNumber('abs', value);
    return typeof number === 'bigint' ? (number < 0n ? -number : number) : Math.abs(number);
  }),
  int: takes('default? base?', (value, [instead = 0n, base = 10n], budget) => {
    if (value instanceof Undefined) throw new Error(value.message);
    if (typeof value === 'string') budget.spend(value.length);
    if (base !== 10n) throw new Unsupported('int with a base');
    return integerOf(value) ?? instead;
  }),
  float: takes('default?', (value, [instead = 0], budget) => {
    if (value instanceof Undefined) throw new Error(value.message);
    if (typeof value === 'string') budget.spend(value.length);
    return floatOf(value) ?? instead;
  }),
  round: takes('precision? method?', (value, [precision = 0n, method = 'common']) =>
    rounded(value, precision, method),
  ),
};

const badNumber = (name: string, value: Value): Error =>
  value instanceof Undefined
    ? new Error(value.message)
    : new TypeError(`${name} takes a number, not ${typeOf(value)}`);

const sign = '[+-]?';
const digits = '\\d+(?:_\\d+)*';
const integerText = new RegExp(`^${sign}${digits}$`);
const floatText = new RegExp(
  `^${sign}(?:(?:${digits}(?:\\.(?:${digits})?)?|\\.${digits})(?:e${sign}${digits})?|inf(?:inity)?|nan)$`,
  'i',
);

function integerOf(value: Value): bigint | undefined {
  if (typeof value === 'string') {
    const text = numeral(value);
    if (integerText.test(text) && text.length <= 4300) return BigInt(text.replace(/^\+|_/g, ''));
  }
  if (asIndex(value) !== undefined) return asIndex(value);
  const float = floatOf(value);
  if (float === undefined || !Number.isFinite(float)) {
    // Python leaves this one to its caller.
    if (typeof value === 'number' && !Number.isNaN(value))
      throw new Error('cannot convert float infinity to integer');
    return undefined;
  }
  return BigInt(Math.trunc(float));
}

function floatOf(value: Value): number | undefined {
  if (value instanceof Markup) throw new Unsupported('the number of a Markup');
  if (typeof value !== 'string') {
    const number = asNumber(value);
    return number === undefined ? undefined : asFloat(number);
  }
  const text = numeral(value).toLowerCase().replaceAll('_', '');
  if (!floatText.test(numeral(value))) return undefined;
  if (text.includes('n'))
    return text.includes('nan') ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity;
  return Number(text);
}

/** @throws Unsupported for digits of other scripts, which Python reads */
function numeral(text: string): string {
  if (/[^\p{ASCII}]/u.test(text) && /^[\p{Nd}\s_.+\-einfaty]+$/iu.test(text))
    throw new Unsupported(`the number ${JSON.stringify(text)}`);
  // oxlint-disable-next-line no-control-regex -- What texts take for white space, and numbers do not.
  return /[\x1c-\x1f]/.test(text) ? text : strip(text, 'strip');
}

function rounded(value: Value, precision: Value, method: Value): Value {
  const number = asNumber(value);
  if (method !== 'common' && method !== 'ceil' && method !== 'floor')
    throw new Error('method must be common, ceil or floor');
  if (number === undefined) throw badNumber('round', value);
  const places = asCount(precision, 0, 'round');
  if (places < 0 || places > 15) throw new Unsupported(`round to ${places} places`);
  if (method === 'common') {
    if (typeof number === 'bigint') return number;
    if (!Number.isFinite(number) || Math.abs(number) >= 1e15) return number;
    return Number(roundedText(number, places));
  }
  if (typeof number === 'bigint')
    return quotient(number * 10n ** BigInt(places), 10n ** BigInt(places));
  const scale = 10 ** places;
  const scaled = number * scale;
  if (!Number.isFinite(scaled)) throw new Error('cannot convert float infinity to integer');
  // Python's integers have no negative zero.
  return ((method === 'ceil' ? Math.ceil(scaled) : Math.floor(scaled)) + 0) / scale;
}

const escaping: Filter = ['', (value, _, budget) => new Markup(escapedText(value, budget))];

const otherFilters: Readonly<Record<string, Filter>> = {
  default: byDefault,
  safe: ['', (value, _, budget) => new Markup(str(value, budget))],
  e: escaping,
  escape: escaping,
  d: byDefault,
  attr: ['name', (value, [name], budget) => ownAttribute(value, asText(name, 'attr'), budget)],
  tojson: takes(
    'ensure_ascii? indent? separators? sort_keys?',
    (value, [asciiOnly = false, indent = null, separators = null, sortKeys = false], budget) => {
      const by =
        indent === null
          ? undefined
          : typeof indent === 'string'
            ? indent
            : ' '.repeat(indentOf(indent, budget));
      const style = {
        asciiOnly: isTrue(asciiOnly),
        indent: by,
        separators: separatorsOf(separators, by === undefined ? ', ' : ','),
        sortKeys: isTrue(sortKeys),
      };
      return new JsonWriter(style, budget).write(value);
    },
  ),
};

function separatorsOf(given: Value, comma: string): readonly [string, string] {
  if (given === null) return [comma, ': '];
  const [first, second, more] =
    given instanceof Tuple ? given.items : Array.isArray(given) ? (given as readonly Value[]) : [];
  if (more !== undefined) throw new Error('separators are two texts');
  return [asText(first, 'separators'), asText(second, 'separators')];
}

export const filters: Readonly<Record<string, Filter>> = {
  ...textFilters,
  ...numberFilters,
  ...listFilters,
  ...otherFilters,
};

/** Python's `pattern % arguments`, as a filter that takes them. */
export function formatFilter(
  value: Value,
  positional: readonly Value[],
  keywords: ReadonlyMap<string, Value>,
  budget: Budget,
): Value {
  if (positional.length > 0 && keywords.size > 0)
    throw new Error("can't handle positional and keyword arguments at the same time");
  const given = keywords.size > 0 ? new Dict(keywords) : new Tuple(positional);
  return formatted(plainText(value, budget), given, budget);
}
