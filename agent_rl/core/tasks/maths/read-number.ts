import { decimalText } from '../decimal-text.ts';
import { fraction, plus } from '../fraction.ts';
import type { TextCursor } from './text-cursor.ts';
import { Undecided } from './undecided.ts';
import { ofNumber, type Value } from './value.ts';

const decimal = String.raw`(?:[1-9]\d{0,2}(?:,\d{3})+(?!\d)|[1-9]\d{0,2}(?: \d{3})+(?!\d)|\d+)?(?:\.\d+)?`;
const forms = {
  mixed:
    /(\d+)(?: +([1-9]\d*)\/(\d+)(?![\d/])| *\\frac *(?:(\d) *(\d)|\{ *(\d+) *\} *\{ *(\d+) *\}))/uy,
  repeating: /(\d*)\.(\d*)(?:\\(?:overline|bar|dot) *\{ *(\d+) *\}|(?<=\.)\((\d+)\))(?!\\dot|\d)/uy,
  decimal: new RegExp(String.raw`(?=\.?\d)(${decimal})(?:[eE]([-+]?\d{1,4})(?!\d))?`, 'uy'),
};

/** A number as it is written: mixed, with digits that repeat, or a decimal with thousands and a power of ten. */
export function readNumber(cursor: TextCursor): Value {
  const [, whole = '', ...parts] = cursor.take(forms.mixed) ?? [];
  if (whole !== '') {
    const [top = 0n, under = 0n] = parts.filter((part) => part !== undefined).map(integer);
    if (top >= under)
      throw new Undecided(
        'A number stands before a fraction, but the two do not form a mixed number.',
      );
    return ofNumber(plus(fraction(integer(whole)), fraction(top, under)));
  }
  const [repeating, before = '', first = '', over, bracketed] = cursor.take(forms.repeating) ?? [];
  if (repeating !== undefined) {
    const again = over ?? bracketed ?? '';
    const nines = 10n ** BigInt(again.length) - 1n;
    const above = integer(`${before}${first}` || '0') * nines + integer(again);
    return ofNumber(fraction(above, nines * 10n ** BigInt(first.length)));
  }
  const [, digits = '', exponent = '0'] = cursor.take(forms.decimal) ?? [];
  if (cursor.depth + cursor.brackets > 0 && digits.includes(','))
    throw new Undecided('A comma is ambiguous: it may separate thousands or two numbers.');
  const plain = digits.replaceAll(/[, ]/gu, '').replace(/^\./u, '0.');
  const [above = '', below = ''] = decimalText(`${plain}e${exponent}`).split('.');
  return ofNumber(fraction(integer(`${above}${below}`), 10n ** BigInt(below.length)));
}

function integer(digits: string): bigint {
  if (!/^\d{1,1000}$/u.test(digits)) throw new Undecided('A number is too long.');
  return BigInt(digits);
}
