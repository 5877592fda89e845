import { decimalText } from '../tasks/decimal-text.ts';

/** The JSON that replaces a number or a key, or `undefined` to leave it. */
type Replacement = (literal: string) => string | undefined;

/**
 * JSON text with some of its numbers and keys replaced.
 *
 * @param json text that is known to be JSON
 */
export function replaceLiterals(
  json: string,
  { number, key }: { number: Replacement; key?: Replacement },
): string {
  const parts: string[] = [];
  const token = /"|-?\d[\d.eE+-]*/g;
  let from = 0;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const isText = found[0] === '"';
    if (isText) token.lastIndex = stringEnd(json, found.index);
    const literal = json.slice(found.index, token.lastIndex);
    const put = isText ? isKey(json, token.lastIndex) && key?.(literal) : number(literal);
    if (put === undefined || put === false) continue;
    parts.push(json.slice(from, found.index), put);
    from = token.lastIndex;
  }
  return parts.length === 0 ? json : `${parts.join('')}${json.slice(from)}`;
}

/** JSON text in which a number that JavaScript would change, as one of twenty digits, is a text. */
export const exactNumbers = (json: string): string =>
  replaceLiterals(json, {
    number: (literal) => {
      const exact = decimalText(literal);
      return exact === decimalText(String(Number(literal))) ? undefined : JSON.stringify(exact);
    },
  });

/** Whether a string that ends before an index is a key. */
function isKey(json: string, end: number): boolean {
  colon.lastIndex = end;
  return colon.test(json);
}

const colon = /\s*:/y;

/** Index after the string of JSON that begins at `start`. */
function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}
