import type { SearchHit } from '../../core/services/search.ts';

const ellipsis = '…';

/** The start of a text, cut where the model can see it and between whole characters. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars - ellipsis.length);
  // The first half of a pair would be no character.
  return `${kept.replace(/[\uD800-\uDBFF]$/, '').trimEnd()}${ellipsis}`;
}

/** Hits as the model reads them, `[1] title` and the text below it. Short: a small model reads it. */
export function formatHits(hits: readonly SearchHit[], showSource: boolean): string {
  if (hits.length === 0) return 'No results.';
  return hits
    .map(({ title, text, url, documentId }, index) => {
      const source = showSource ? (url ?? documentId) : '';
      const head = [title, source === '' ? '' : `(${source})`].filter(Boolean).join(' ');
      return [`[${index + 1}] ${head}`.trimEnd(), text].filter(Boolean).join('\n');
    })
    .join('\n\n');
}
