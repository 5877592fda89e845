/** Words in lines of at most `width` characters; a longer word has a line of its own. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) ?? '';
    const longer = last === '' ? word : `${last} ${word}`;
    if (longer.length <= width || last === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const gap = 2;
/** A column that is not the last is not wider than this; what is longer is wrapped. */
const widest = 26;

/** Rows in columns, indented by two; long text continues on the next line of its cell. */
export function textTable(rows: string[][], width = 100): string {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, column) => {
    const longest = Math.max(...rows.map((row) => row[column]?.length ?? 0));
    return column === count - 1 ? longest : Math.min(longest, widest);
  });
  const before = widths.slice(0, -1).reduce((sum, one) => sum + one + gap, gap);
  widths[count - 1] = Math.max(30, width - before);
  return rows.map((row) => rowText(row, widths)).join('\n');
}

function rowText(row: string[], widths: number[]): string {
  const cells = row.map((cell, column) => wrapped(cell, widths[column] ?? cell.length));
  const height = Math.max(...cells.map((cell) => cell.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = cells.map((cell, column) =>
      (cell[line] ?? '').padEnd((widths[column] ?? 0) + gap),
    );
    return `  ${parts.join('')}`.trimEnd();
  }).join('\n');
}
