import { unreachable } from '../../../core/unreachable.ts';
import { type Chart, describe } from '../../../runs/charts/chart.ts';
import { curvesOf, plainLook } from '../../../runs/charts/curves.ts';
import type { Block, Report, Section } from '../report.ts';
import type { TranscriptEntry } from '../../show/transcript-entries.ts';
import { chartMarkup, chartStyles, legendHeight, type Size } from './chart-markup.ts';
import { markup, Markup } from './markup.ts';
import { pageStyles } from './page-styles.ts';

/** Nothing is loaded and nothing runs, whatever a model wrote. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/** One page that needs nothing else: no script, no other file, no network. */
export function htmlReport({ title, lead, sections }: Report): string {
  const [about = '', ...results] = lead;
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Markup(pageStyles + chartStyles)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="about">${about}</p>
${results.map((words) => markup`<p class="lead">${words}</p>`)}
<nav>${sections.map((section, at) => markup`<a href="#s${at}">${section.title}</a>`)}</nav>
</header>
<main>
${sections.map(sectionMarkup)}
</main>
</body>
</html>
`;
  return page.text;
}

const sectionMarkup = ({ title, blocks }: Section, at: number): Markup =>
  markup`<section id="s${at}">
<h2>${title}</h2>
${blocks.map((block, place) => blockMarkup(block, `s${at}-${place}`))}
</section>`;

function blockMarkup(block: Block, id: string): Markup {
  switch (block.kind) {
    case 'text':
      return markup`<p>${block.text}</p>`;
    case 'lines':
      return asItIs(block.lines.join('\n'));
    case 'table':
      return tableMarkup(block);
    case 'curves':
      return markup`<div class="curves">
${block.charts.map((chart, at) => figure(chart, `${id}-${at}`, at === 0))}
</div>`;
    case 'transcript':
      return markup`<article>
<h3>${block.title}</h3>
<p class="about">${block.about}</p>
${block.entries.map(entryMarkup)}
</article>`;
    default:
      return unreachable(block);
  }
}

/** HTML leaves out a line feed that a `<pre>` begins with: a text of its own begins behind another one. */
const asItIs = (text: string): Markup =>
  markup`<pre>${text.startsWith('\n') ? `\n${text}` : text}</pre>`;

/** Longer cells take more lines than one. */
const mostOnALine = 70;

const widthOf = (cell: string): string => (cell.length > mostOnALine ? 'long' : 'short');

const tableMarkup = ({ head, rows }: Extract<Block, { kind: 'table' }>): Markup =>
  markup`<div class="wide"><table>
<thead><tr>${head.map((cell) => markup`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>
${rows.map(rowMarkup)}
</tbody>
</table></div>`;

const rowMarkup = ([name = '', ...cells]: readonly string[]): Markup =>
  markup`<tr><th scope="row" class="${widthOf(name)}">${name}</th>${cells.map((cell) => markup`<td class="${widthOf(cell)}">${cell}</td>`)}</tr>`;

const wide: Size = { width: 1000, height: 320 };
const half: Size = { width: 490, height: 235 };

function figure(chart: Chart, id: string, isFirst: boolean): Markup {
  const { width, height } = isFirst ? wide : half;
  const size = { width, height: height + legendHeight(chart, width) };
  const notes = curvesOf(chart, plainLook).notes.join(' ');
  return markup`<figure class="${isFirst ? 'across' : 'half'}">
<svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-labelledby="${id}-title ${id}-text">
<title id="${id}-title">${chart.title}</title>
<desc id="${id}-text">${describe(chart)}</desc>
${chartMarkup(chart, size)}
</svg>
${notes === '' ? [] : markup`<figcaption>${notes}</figcaption>`}
</figure>`;
}

const entryMarkup = ({ who, label, text }: TranscriptEntry): Markup =>
  markup`<div class="entry ${who}">
${label === '' ? [] : markup`<div class="label">${label}</div>`}
${asItIs(text)}
</div>`;
