import { largest } from '../../core/long-lists.ts';

/** A table with columns as wide as their widest cell, one line per row. */
export function tableText(rows: readonly (readonly string[])[]): string {
  const columns = largest(
    rows.map((cells) => cells.length),
    0,
  );
  const widths = Array.from({ length: columns }, (_, column) =>
    largest(
      rows.map((cells) => cells[column]?.length ?? 0),
      0,
    ),
  );
  return rows
    .map((cells) => `  ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}
