import type { Chart } from '../../runs/charts/chart.ts';
import type { TranscriptEntry } from '../show/transcript-entries.ts';

/** A report before it is written as HTML, Markdown or a picture. All of it is text: nothing here is markup. */
export interface Report {
  title: string;
  /** What came of it, a paragraph each. */
  lead: readonly string[];
  sections: readonly Section[];
}

export interface Section {
  title: string;
  blocks: readonly Block[];
}

export type Block =
  | { kind: 'text'; text: string }
  /** The first cell of a row names it. */
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly string[])[] }
  /** Lines of a file or of a terminal. */
  | { kind: 'lines'; lines: readonly string[] }
  | { kind: 'curves'; charts: readonly Chart[] }
  | { kind: 'transcript'; title: string; about: string; entries: readonly TranscriptEntry[] };

export const text = (words: string): Block => ({ kind: 'text', text: words });

/** No block where there is nothing to show. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): Block[] =>
  rows.length === 0 ? [] : [{ kind: 'table', head, rows }];

/** All its curves, in their order. */
export const chartsOf = ({ sections }: Report): Chart[] =>
  sections
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.kind === 'curves' ? block.charts : []));

/** The beginning of a long text, with how much is missing. */
export function cutText(whole: string, most: number): string {
  const left = whole.length - most;
  return left <= 0
    ? whole
    : `${whole.slice(0, most)}… [${left.toLocaleString('en')} more characters left out]`;
}
