/** Text that Markdown would read as something else, escaped; of code in backticks, only what ends a cell. */
export const plain = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll(/[<>]/g, '\\$&')))
    .join('');

/** Text as code; an empty text stays empty. */
export const code = (text: string): string =>
  text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``;

const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A table of cells that are Markdown already. */
export const table = (header: string[], rows: string[][]): string =>
  [header, header.map(() => '---'), ...rows].map(tableRow).join('\n');

/** A page: its title, what it is, and its parts. */
export const page = (title: string, about: string, ...parts: string[]): string =>
  `${[`# ${title}`, about, '<!-- Written by `npm run docs`; do not edit. -->', ...parts].join('\n\n')}\n`;
