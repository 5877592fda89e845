/** A record of a CSV text with the line it begins on, or why it cannot be read. */
export type CsvRecord = { line: number; cells: readonly string[] } | { line: number; text: string };

const lineEnd = /\r\n|\n|\r/y;
const plainCell = /[^\r\n]*/y;

/**
 * The records of a CSV text (RFC 4180): cells in quotes may hold the delimiter, line ends and, doubled, quotes. A quote
 * inside a cell that does not begin with one is a character like any other. Blank lines are skipped.
 *
 * @yields Each other record, lines counted from 1.
 */
export function* csvRecords(text: string, delimiter: string): Generator<CsvRecord> {
  const cursor = { at: 0, line: 1 };
  while (cursor.at < text.length) {
    const { line } = cursor;
    const record = recordAt(text, delimiter, cursor);
    if (typeof record === 'string') yield { line, text: record };
    else if (record.length > 1 || record[0] !== '') yield { line, cells: record };
  }
}

interface Cursor {
  at: number;
  line: number;
}

/** The cells of the record at the cursor, which moves behind it, or what is wrong with it. */
function recordAt(text: string, delimiter: string, cursor: Cursor): string[] | string {
  const cells: string[] = [];
  for (;;) {
    const cell =
      text[cursor.at] === '"' ? quotedAt(text, cursor) : plainAt(text, delimiter, cursor);
    if (cell === undefined) {
      cursor.at = text.length;
      return 'has a quote that is never closed.';
    }
    cells.push(cell);
    if (text[cursor.at] === delimiter) {
      cursor.at += 1;
      continue;
    }
    if (endsLine(text, cursor)) return cells;
    plainCell.lastIndex = cursor.at;
    cursor.at += plainCell.exec(text)?.[0].length ?? 0;
    endsLine(text, cursor);
    return 'has text after a closing quote. Write a quote inside a quoted cell as two quotes.';
  }
}

/** Steps over the end of a line or of the text; false where there is neither. */
function endsLine(text: string, cursor: Cursor): boolean {
  if (cursor.at >= text.length) return true;
  lineEnd.lastIndex = cursor.at;
  const end = lineEnd.exec(text)?.[0];
  if (end === undefined) return false;
  cursor.at += end.length;
  cursor.line += 1;
  return true;
}

function plainAt(text: string, delimiter: string, cursor: Cursor): string {
  const start = cursor.at;
  while (cursor.at < text.length && !`${delimiter}\r\n`.includes(text[cursor.at] ?? ''))
    cursor.at += 1;
  return text.slice(start, cursor.at);
}

function quotedAt(text: string, cursor: Cursor): string | undefined {
  const start = cursor.at + 1;
  let end = start - 2;
  do end = text.indexOf('"', end + 2);
  while (end !== -1 && text[end + 1] === '"');
  if (end === -1) return undefined;
  cursor.at = end + 1;
  const inside = text.slice(start, end);
  cursor.line += inside.match(/\r\n|\n|\r/g)?.length ?? 0;
  return inside.replaceAll('""', '"');
}
