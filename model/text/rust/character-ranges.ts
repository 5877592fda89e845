/**
 * Sets of characters as the regular expressions of Rust's tokenizers know them: as in Unicode 16, whatever version
 * Node.js has.
 */
import { createRequire } from 'node:module';

/** Ranges of characters in order, both ends included. */
export type Ranges = readonly (readonly [number, number])[];

const require = createRequire(import.meta.url);
const last = 0x10ffff;

const categories: Readonly<Record<string, string>> = {
  C: 'Other',
  Cc: 'Control',
  Cf: 'Format',
  Cn: 'Unassigned',
  Co: 'Private_Use',
  L: 'Letter',
  Ll: 'Lowercase_Letter',
  Lm: 'Modifier_Letter',
  Lo: 'Other_Letter',
  Lt: 'Titlecase_Letter',
  Lu: 'Uppercase_Letter',
  M: 'Mark',
  Mc: 'Spacing_Mark',
  Me: 'Enclosing_Mark',
  Mn: 'Nonspacing_Mark',
  N: 'Number',
  Nd: 'Decimal_Number',
  Nl: 'Letter_Number',
  No: 'Other_Number',
  P: 'Punctuation',
  Pc: 'Connector_Punctuation',
  Pd: 'Dash_Punctuation',
  Pe: 'Close_Punctuation',
  Pf: 'Final_Punctuation',
  Pi: 'Initial_Punctuation',
  Po: 'Other_Punctuation',
  Ps: 'Open_Punctuation',
  S: 'Symbol',
  Sc: 'Currency_Symbol',
  Sk: 'Modifier_Symbol',
  Sm: 'Math_Symbol',
  So: 'Other_Symbol',
  Z: 'Separator',
  Zl: 'Line_Separator',
  Zp: 'Paragraph_Separator',
  Zs: 'Space_Separator',
};

function property(name: string): Ranges {
  // Starts and ends of ranges in turn, an end being one more than the last character.
  const { characters } = require(`regenerate-unicode-properties/${name}.js`) as {
    characters: { readonly data: readonly number[] };
  };
  const { data } = characters;
  return data.flatMap((start, at) => (at % 2 === 0 ? [[start, data[at + 1]! - 1] as const] : []));
}

/** The characters of a general category, such as L or Nd, or of a script. Undefined for a name that is neither. */
export function named(name: string): Ranges | undefined {
  const category = categories[name];
  if (category !== undefined) return property(`General_Category/${category}`);
  const known = require('regenerate-unicode-properties') as ReadonlyMap<string, readonly string[]>;
  return known.get('Script')?.includes(name) === true ? property(`Script/${name}`) : undefined;
}

export function union(...sets: readonly Ranges[]): Ranges {
  const merged: [number, number][] = [];
  for (const [start, end] of sets.flat().toSorted((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before !== undefined && start <= before[1] + 1) before[1] = Math.max(before[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

export function complement(ranges: Ranges): Ranges {
  const starts = [0, ...ranges.map(([, end]) => end + 1)];
  const ends = [...ranges.map(([start]) => start - 1), last];
  return starts.flatMap((start, at) => (start <= ends[at]! ? [[start, ends[at]!] as const] : []));
}

const without = (ranges: Ranges, others: Ranges): Ranges =>
  complement(union(complement(ranges), others));

/** The ranges of a list such as `41-5a 5f`, in hexadecimal. */
export const listed = (text: string): Ranges =>
  text.split(' ').map((range) => {
    const [start = 0, end = start] = range.split('-').map((code) => Number.parseInt(code, 16));
    return [start, end];
  });

/**
 * What stands between the brackets of a class of a regular expression: characters as they are where they can be, since
 * V8 makes long expressions slow.
 */
export const inClass = (ranges: Ranges): string =>
  ranges.map(([start, end]) => written(start) + (end > start ? `-${written(end)}` : '')).join('');

const written = (code: number): string => {
  const character = String.fromCodePoint(code);
  return /[\p{L}\p{N}]/u.test(character) ? character : `\\x{${code.toString(16)}}`;
};

const whiteSpace = property('Binary_Property/White_Space');
const marksAndDigits = ['M', 'Nd', 'Pc'].map((name) => named(name)!);
const wordInClass = union(property('Binary_Property/Alphabetic'), ...marksAndDigits);

/** `\s`, `\d` and `\w` in a class. */
export const shorthand: Readonly<Record<string, Ranges>> = {
  s: whiteSpace,
  d: named('Nd')!,
  w: wordInClass,
};

/** `\w` outside of a class: Oniguruma takes superscripts and fractions of Latin-1 for word characters there. */
export const wordOutside = union(wordInClass, listed('b2-b3 b9 bc-be'));

/** `\w` of the crate regex, which knows joiners too. */
export const wordOfRegex = union(wordInClass, listed('200c-200d'));

/** `char::is_numeric` of Rust's standard library, which knows Unicode 17. */
export const numeric = union(named('N')!, listed('11de0-11de9 16ff4-16ff6'));

/** Punctuation of the crate unicode_categories, which knows Unicode 8, and ASCII's. */
export const punctuation = union(
  without(
    named('P')!,
    listed(
      '61d 9fd a76 c77 c84 1b4e-1b4f 1b7d-1b7f 2e43-2e4f 2e52-2e5d 10d6e 10ead 10f55-10f59 10f86-10f89 113d4-113d5 ' +
        '113d7-113d8 1144b-1144f 1145a-1145b 1145d 11660-1166c 116b9 1183b 11944-11946 119e2 11a3f-11a46 11a9a-11a9c ' +
        '11a9e-11aa2 11b00-11b09 11be1 11c41-11c45 11c70-11c71 11ef7-11ef8 11f43-11f4f 11fff 12ff1-12ff2 16d6d-16d6f ' +
        '16e97-16e9a 16fe2 1e5ff 1e95e-1e95f',
    ),
  ),
  listed('21-2f 3a-40 5b-60 7b-7e 166d 111c9'),
);
