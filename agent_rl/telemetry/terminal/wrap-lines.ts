import { append, largest } from '../../core/long-lists.ts';

/** Narrower than that, words beside an indentation would stand one to a line. */
const leastRoom = 30;

const gap = / {2,}/;

/** Rows of a table, as `tableText` writes them: two spaces, then cells with gaps between them. */
const cellsOf = (line: string): readonly string[] =>
  /^ {2}\S/.test(line) ? line.trim().split(gap) : [];

/**
 * Fits text to a terminal: indented lines that are too wide, as in the plan, are wrapped between words, below what
 * follows their label; a table that is too wide becomes a list of its cells. Other lines, such as paths to copy, stay whole.
 */
export function wrapLines(text: string, columns: number): string {
  const lines = text.split('\n');
  const wrapped: string[] = [];
  for (let at = 0; at < lines.length;) {
    const head = cellsOf(lines[at] ?? '');
    let end = at;
    while (head.length > 2 && cellsOf(lines[end] ?? '').length === head.length) end += 1;
    const table = lines.slice(at, end);
    if (table.length > 1 && table.some((line) => line.length > columns)) {
      append(wrapped, stacked(head, table.slice(1).map(cellsOf)));
      at = end;
    } else {
      wrapped.push(wrapLine(lines[at] ?? '', columns));
      at += 1;
    }
  }
  return wrapped.join('\n');
}

/** A table as a list: the first cell of a row, and below it the others after the names of their columns. */
function stacked(
  [title = '', ...names]: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const width = largest(names.map((name) => name.length));
  return [
    `  ${title}`,
    ...rows.flatMap(([first = '', ...cells]) => [
      `  ${first}`,
      ...cells.map((cell, index) => `    ${(names[index] ?? '').padEnd(width)}  ${cell}`),
    ]),
  ];
}

function wrapLine(line: string, columns: number): string {
  const [, head = '', rest = ''] = /^( +(?:\S+(?: \S+)* {2,})?)(.*)$/.exec(line) ?? [];
  const indent = head.length;
  const room = columns - indent;
  if (head === '' || line.length <= columns || gap.test(rest) || room < leastRoom) return line;
  const lines: string[] = [];
  for (const word of rest.split(' ')) {
    const last = lines.at(-1);
    const joined = `${last} ${word}`;
    if (last === undefined || joined.length > room) lines.push(word);
    else lines[lines.length - 1] = joined;
  }
  return head + lines.join(`\n${' '.repeat(indent)}`);
}
