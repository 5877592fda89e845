/** Texts as Python sees them: code points, and its own white space. */

/** What Python takes for white space, for a character class of a regular expression. */
export const pythonSpace =
  '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const isSpace = new RegExp(`^[${pythonSpace}]$`);
const spaces = new Set(
  Array.from({ length: 0x3001 }, (_, code) => String.fromCharCode(code)).filter((at) =>
    isSpace.test(at),
  ),
);
const hasPairs = /[\ud800-\udfff]/;

export type Side = 'strip' | 'lstrip' | 'rstrip';

/** Python's `strip`, `lstrip` and `rstrip`, of white space or of given characters. */
export function strip(text: string, side: Side, characters?: string): string {
  const given = characters === undefined ? spaces : new Set(characters);
  const goes = (at: string): boolean => given.has(at);
  const symbols =
    characters !== undefined && hasPairs.test(characters + text) ? Array.from(text) : text;
  let [start, end] = [0, symbols.length];
  if (side !== 'rstrip') while (start < end && goes(symbols[start] ?? '')) start++;
  if (side !== 'lstrip') while (end > start && goes(symbols[end - 1] ?? '')) end--;
  return typeof symbols === 'string'
    ? symbols.slice(start, end)
    : symbols.slice(start, end).join('');
}

/** The characters of a text, by code points. */
export const charactersOf = (text: string): readonly string[] | string =>
  hasPairs.test(text) ? Array.from(text) : text;

export function lengthOf(text: string): number {
  if (!hasPairs.test(text)) return text.length;
  let length = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) length++;
  return length;
}

const widthAt = (text: string, at: number): 1 | 2 => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** Where a code point of a text begins. */
function offsetOf(text: string, place: number): number {
  let offset = 0;
  for (let i = 0; i < place && offset < text.length; i++) offset += widthAt(text, offset);
  return offset;
}

/** The part of a text between two code points, counted from its start. */
export function sliceOf(text: string, start: number, end: number): string {
  if (!hasPairs.test(text)) return text.slice(start, end);
  const from = offsetOf(text, start);
  const part = text.slice(from);
  return part.slice(0, offsetOf(part, end - start));
}

/** The order of two texts by code points; JavaScript's own is by halves of pairs. */
export function textOrder(a: string, b: string): number {
  if (hasPairs.test(a) || hasPairs.test(b)) {
    let at = 0;
    while (at < a.length && a[at] === b[at]) at++;
    if (at > 0 && /[\udc00-\udfff]/.test(a[at] ?? b[at] ?? '')) at--;
    return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
  }
  return a < b ? -1 : a > b ? 1 : 0;
}
