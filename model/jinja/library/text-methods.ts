import type { Budget } from '../budget.ts';
import { formattedText } from './format-text.ts';
import { itemsOf, isTrue } from '../values/sequences.ts';
import { lengthOf, pythonSpace, type Side, sliceOf, strip } from '../values/python-text.ts';
import { Callable, Tuple, Unsupported, type Value } from '../values/value.ts';
import { asCount, asText, asTextIfAny } from './arguments.ts';
import { type Bound, callable, takes } from './bind.ts';
import { capitalized, casesOf, isOf, lowered, titled, uppered } from './cases.ts';

type Method = readonly [
  parameters: string,
  call: (text: string, bound: Bound, budget: Budget) => Value,
];

const spaces = new RegExp(`([${pythonSpace}]+)`);
// oxlint-disable-next-line no-control-regex -- What Python takes for the end of a line.
export const lineEnds = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

const stripping = (side: Side): Method =>
  takes('chars? /', (text, [characters]) => strip(text, side, asTextIfAny(characters, side)));

const asking = (question: Parameters<typeof isOf>[0]): Method =>
  takes('', (text) => isOf(question, text));

const padding = (name: string, place: (missing: number, width: number) => number): Method =>
  takes('width fillchar? /', (text, [width, fill = ' '], budget) => {
    const symbol = asText(fill, name);
    if (lengthOf(symbol) !== 1) throw new TypeError('the fill character must be one character');
    const wide = asCount(width, 0, name);
    const missing = Math.max(0, wide - lengthOf(text));
    budget.text(text.length + missing * symbol.length);
    const before = place(missing, wide);
    return symbol.repeat(before) + text + symbol.repeat(missing - before);
  });

const affix = (side: 'startsWith' | 'endsWith'): Method =>
  takes('prefix start? end? /', (text, [given, start, end], budget) => {
    const part = partOf(text, start, end);
    const affixes = given instanceof Tuple ? given.items : [given];
    budget.items(affixes.length);
    const all = affixes.map((one) => asText(one, side.toLowerCase()));
    return part !== undefined && all.some((one) => part.text[side](one));
  });

const finding = (name: string, isLast: boolean, mustBe: boolean): Method =>
  takes('sub start? end? /', (text, [given, start, end]) => {
    const sought = asText(given, name);
    const part = partOf(text, start, end);
    const at = (isLast ? part?.text.lastIndexOf(sought) : part?.text.indexOf(sought)) ?? -1;
    if (at < 0 || part === undefined) {
      if (mustBe) throw new Error('substring not found');
      return -1n;
    }
    return BigInt(part.start + lengthOf(part.text.slice(0, at)));
  });

/** The part of a text between two optional places, and where it starts. */
function partOf(text: string, from: Value | undefined, to: Value | undefined) {
  const length = lengthOf(text);
  const place = (value: Value | undefined, byDefault: number): number => {
    const at = asCount(value === null ? undefined : value, byDefault, 'a method of str');
    return Math.max(0, at < 0 ? at + length : at);
  };
  const [start, end] = [place(from, 0), Math.min(length, place(to, length))];
  return start > length || start > end ? undefined : { start, text: sliceOf(text, start, end) };
}

const splitting = (isFromRight: boolean): Method =>
  takes('sep? maxsplit?', (text, [given, most], budget) => {
    const separator = asTextIfAny(given, 'split');
    if (separator === '') throw new Error('empty separator');
    const limit = asCount(most, -1, 'split');
    const parts =
      separator === undefined
        ? splitAtSpaces(text, limit, isFromRight, budget)
        : limited(text.split(separator), separator, limit, isFromRight);
    budget.items(parts.length);
    return parts;
  });

/** Parts of a text of which those beyond a number of cuts are joined again. */
function limited(parts: string[], separator: string, limit: number, isFromRight: boolean) {
  if (limit < 0 || parts.length <= limit + 1) return parts;
  const cut = isFromRight ? parts.length - limit : limit;
  const [first, last] = [parts.slice(0, cut), parts.slice(cut)];
  return isFromRight ? [first.join(separator), ...last] : [...first, last.join(separator)];
}

function splitAtSpaces(
  text: string,
  limit: number,
  isFromRight: boolean,
  budget: Budget,
): string[] {
  const inner = strip(text, 'strip');
  if (inner === '') return [];
  // Parts, and the white space between them.
  const pieces = inner.split(spaces);
  budget.spend(pieces.length);
  const last = pieces.length - 1;
  const cuts = limit < 0 ? last / 2 : Math.min(limit, last / 2);
  const [from, to] = isFromRight ? [last - 2 * cuts, last] : [0, 2 * cuts];
  const parts = pieces.slice(from, to + 1).filter((_, i) => i % 2 === 0);
  if (isFromRight) parts[0] = pieces.slice(0, from + 1).join('');
  else parts[parts.length - 1] = pieces.slice(to).join('');
  // Python leaves white space on the side that it does not cut.
  if (limit === 0) return [strip(text, isFromRight ? 'rstrip' : 'lstrip')];
  if (limit > 0 && cuts === limit && !isFromRight)
    parts.push(strip(parts.pop() + text.slice(strip(text, 'rstrip').length), 'lstrip'));
  if (limit > 0 && cuts === limit && isFromRight)
    parts[0] = text.slice(0, text.length - strip(text, 'lstrip').length) + (parts[0] ?? '');
  return parts;
}

function splitLines(text: string, keepEnds: boolean): string[] {
  const lines: string[] = [];
  let rest = text;
  for (let found = lineEnds.exec(rest); found !== null; found = lineEnds.exec(rest)) {
    const end = found.index + found[0].length;
    lines.push(rest.slice(0, keepEnds ? end : found.index));
    rest = rest.slice(end);
  }
  return rest === '' ? lines : [...lines, rest];
}

const partition = (isLast: boolean): Method =>
  takes('sep /', (text, [given]) => {
    const separator = asText(given, 'partition');
    if (separator === '') throw new Error('empty separator');
    const at = isLast ? text.lastIndexOf(separator) : text.indexOf(separator);
    if (at < 0) return new Tuple(isLast ? ['', '', text] : [text, '', '']);
    return new Tuple([text.slice(0, at), separator, text.slice(at + separator.length)]);
  });

/** Python's `text.replace(old, now, count)`, paid for before it is made. */
export function replaced(
  text: string,
  [old, now]: readonly [string, string],
  count: number,
  budget: Budget,
): string {
  const parts = old === '' ? [] : text.split(old);
  const all = old === '' ? lengthOf(text) + 1 : parts.length - 1;
  budget.spend(all);
  const times = count < 0 ? all : Math.min(count, all);
  budget.text(text.length + times * Math.max(0, now.length - old.length));
  if (old === '') {
    const symbols = Array.from(text);
    const between = symbols.map((symbol, i) => (i < times ? now + symbol : symbol)).join('');
    return times > symbols.length ? between + now : between;
  }
  return limited(parts, old, times, false).join(now);
}

const methods: Readonly<Record<string, Method>> = {
  strip: stripping('strip'),
  lstrip: stripping('lstrip'),
  rstrip: stripping('rstrip'),
  upper: ['', (text) => uppered(text)],
  lower: ['', (text) => lowered(text)],
  casefold: ['', (text) => casesOf(text, 'casefold')],
  swapcase: ['', (text) => casesOf(text, 'swapcase')],
  capitalize: ['', (text) => capitalized(text)],
  title: takes('', (text, _, budget) => {
    budget.spend(2 * text.length);
    return titled(text);
  }),
  split: splitting(false),
  rsplit: splitting(true),
  splitlines: takes('keepends?', (text, [keepEnds = false], budget) => {
    const lines = splitLines(text, isTrue(keepEnds));
    budget.items(lines.length);
    return lines;
  }),
  partition: partition(false),
  rpartition: partition(true),
  startswith: affix('startsWith'),
  endswith: affix('endsWith'),
  find: finding('find', false, false),
  rfind: finding('rfind', true, false),
  index: finding('index', false, true),
  rindex: finding('rindex', true, true),
  count: takes('sub start? end? /', (text, [given, start, end], budget) => {
    const [sought, part] = [asText(given, 'count'), partOf(text, start, end)];
    if (part === undefined) return 0n;
    if (sought === '') return BigInt(lengthOf(part.text) + 1);
    const found = part.text.split(sought).length - 1;
    budget.spend(found);
    return BigInt(found);
  }),
  replace: takes('old new / count?', (text, [old, now, count], budget) =>
    replaced(
      text,
      [asText(old, 'replace'), asText(now, 'replace')],
      asCount(count, -1, 'replace'),
      budget,
    ),
  ),
  removeprefix: takes('prefix /', (text, [given]) => {
    const prefix = asText(given, 'removeprefix');
    return text.startsWith(prefix) ? text.slice(prefix.length) : text;
  }),
  removesuffix: takes('suffix /', (text, [given]) => {
    const suffix = asText(given, 'removesuffix');
    return suffix !== '' && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
  }),
  join: takes('iterable /', (text, [iterable = null], budget) => {
    const parts = itemsOf(iterable, budget).map((item) => asText(item, 'join'));
    budget.text(parts.reduce((sum, part) => sum + part.length + text.length, 0));
    return parts.join(text);
  }),
  center: padding('center', (missing, width) => Math.floor(missing / 2) + (missing & width & 1)),
  ljust: padding('ljust', () => 0),
  rjust: padding('rjust', (missing) => missing),
  zfill: takes('width /', (text, [width], budget) => {
    const missing = Math.max(0, asCount(width, 0, 'zfill') - lengthOf(text));
    budget.text(text.length + missing);
    const sign = /^[+-]/.exec(text)?.[0] ?? '';
    return sign + '0'.repeat(missing) + text.slice(sign.length);
  }),
  isalpha: asking('alpha'),
  isalnum: asking('alnum'),
  isdigit: asking('digit'),
  isdecimal: asking('decimal'),
  isnumeric: asking('numeric'),
  isspace: asking('space'),
  islower: asking('lower'),
  isupper: asking('upper'),
  istitle: asking('title'),
  isascii: asking('ascii'),
};

/** Methods that Python has and this has not. */
export const unsupportedMethods: ReadonlySet<string> = new Set([
  'encode',
  'expandtabs',
  'format_map',
  'isidentifier',
  'isprintable',
  'maketrans',
  'translate',
]);

/** A method of a text; undefined where Python has none of that name. @throws Unsupported */
export function textMethod(text: string, name: string, budget: Budget): Callable | undefined {
  if (name === 'format') return new Callable(name, (given) => formattedText(text, given, budget));
  if (unsupportedMethods.has(name)) throw new Unsupported(`the method ${name} of a str`);
  if (!Object.hasOwn(methods, name)) return undefined;
  const [parameters, call] = methods[name]!;
  return callable(name, parameters, (bound) => {
    budget.text(text.length);
    return call(text, bound, budget);
  });
}
