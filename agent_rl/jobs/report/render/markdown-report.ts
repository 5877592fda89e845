import { unreachable } from '../../../core/unreachable.ts';
import {
  type Chart,
  isNumber,
  type Line,
  shownUnit,
  valueText,
} from '../../../runs/charts/chart.ts';
import type { Block, Report } from '../report.ts';
import { entryText } from '../../show/transcript-entries.ts';
import { visibleControls } from '../../../telemetry/index.ts';

/** Text for pull requests and READMEs, in GitHub's Markdown. */
export function markdownReport({ title, lead, sections }: Report): string {
  const parts = [
    `# ${plain(title)}`,
    ...lead.map(plain),
    ...sections.flatMap((section) => [
      `## ${plain(section.title)}`,
      ...section.blocks.map(blockText),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** Text in which nothing is markup, on one line. */
export const plain = (text: string): string =>
  visibleControls(text)
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll(/[\\`*_[\]<>|~&#]/g, String.raw`\$&`);

function blockText(block: Block): string {
  switch (block.kind) {
    case 'text':
      return plain(block.text);
    case 'lines':
      return fenced(block.lines.join('\n'));
    case 'table':
      return tableText(block.head, block.rows);
    case 'curves':
      return chartsText(block.charts);
    case 'transcript':
      return [
        `### ${plain(block.title)}`,
        plain(block.about),
        fenced(block.entries.map(entryText).join('\n')),
      ].join('\n\n');
    default:
      return unreachable(block);
  }
}

const rowText = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => plain(cell)).join(' | ')} |`;

/** A table in which nothing is markup. */
export const tableText = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [rowText(head), rowText(head.map(() => '---')), ...rows.map(rowText)].join('\n');

/** A block of text as it is: its fence is longer than any in the text. */
function fenced(text: string): string {
  const shown = visibleControls(text);
  const longest = [...shown.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}`;
}

/** The first by itself, the others folded away. */
function chartsText([first, ...others]: readonly Chart[]): string {
  const shown = first === undefined ? '' : chartText(first);
  if (others.length === 0) return shown;
  const folded = others.map(chartText).join('\n\n');
  return `${shown}\n\n<details><summary>Other curves</summary>\n\n${folded}\n\n</details>`;
}

const mostRows = 9;

/** A few points of each curve: GitHub's Markdown draws none. */
function chartText(chart: Chart): string {
  const { title, over, lines } = chart;
  const xs = [...new Set(lines.flatMap((line) => line.xs))].toSorted((a, b) => a - b);
  const step = (xs.length - 1) / (mostRows - 1);
  const some =
    xs.length <= mostRows
      ? xs
      : Array.from({ length: mostRows }, (_, row) => xs[Math.round(row * step)] ?? 0);
  const rows = some.map((x) => [String(x)].concat(lines.map((line) => cellText(line, x, chart))));
  const left = some.length < xs.length ? [`Shown are ${some.length} of ${xs.length} rows.`] : [];
  const notes = [chart.note ?? [], left].flat().map((one) => ` ${plain(one)}`);
  const unit = shownUnit(chart);
  const caption = `**${plain(unit === '' ? title : `${title}, ${unit}`)}**${notes.join('')}`;
  return `${caption}\n\n${tableText([over, ...lines.map(({ label }) => label)], rows)}`;
}

function cellText({ xs, ys, low, high }: Line, x: number, chart: Chart): string {
  const at = xs.indexOf(x);
  const ends = [low?.[at], high?.[at]]
    .filter(isNumber)
    .map((end) => valueText(end, chart).replace(/ %$/, ''));
  const value = ys[at] ?? null;
  if (value === null) return '-';
  return `${valueText(value, chart)}${ends.length === 2 ? ` [${ends.join(', ')}]` : ''}`;
}
