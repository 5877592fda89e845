import { decimalText } from '../tasks/decimal-text.ts';

/**
 * JSON text with some of its numbers replaced.
 *
 * @param json text that is known to be JSON
 * @param replacement the JSON that stands for a number, or `undefined` to leave it
 */
export function replaceNumbers(
  json: string,
  replacement: (literal: string) => string | undefined,
): string {
  const parts: string[] = [];
  const token = /"|-?\d[\d.eE+-]*/g;
  let from = 0;
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const [literal] = found;
    if (literal === '"') {
      token.lastIndex = stringEnd(json, found.index);
      continue;
    }
    const put = replacement(literal);
    if (put === undefined) continue;
    parts.push(json.slice(from, found.index), put);
    from = token.lastIndex;
  }
  return parts.length === 0 ? json : `${parts.join('')}${json.slice(from)}`;
}

/** JSON text in which a number that JavaScript would change, as one of twenty digits, is a text. */
export const exactNumbers = (json: string): string =>
  replaceNumbers(json, (literal) => {
    const exact = decimalText(literal);
    return exact === decimalText(String(Number(literal))) ? undefined : JSON.stringify(exact);
  });

/** Index after the string of JSON that begins at `start`. */
function stringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
}
