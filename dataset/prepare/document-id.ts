import { createHash } from 'node:crypto';

import type { SourceDocument } from './source-record.ts';

const digestLength = 16;

const digest = (kind: string, text: string): string =>
  createHash('sha256').update(`${kind}\n${text}`).digest('hex').slice(0, digestLength);

/**
 * The form in which addresses of one page are equal: without fragment, default port, and without the difference
 * between http and https. Query and path are left alone: they may name another page.
 *
 * @returns Nothing when the text is not an http or https URL.
 */
export function canonicalUrl(text: string): string | undefined {
  const trimmed = text.trim();
  if (!URL.canParse(trimmed)) return undefined;
  const url = new URL(trimmed);
  if (!/^https?:$/.test(url.protocol) || url.hostname === '') return undefined;
  url.hash = '';
  // http://host:80/ and https://host:443/ have lost their port already.
  return `${url.host}${url.pathname}${url.search}`;
}

/** `doc-` and a digest: of the address, else of the source's own id, else of title and text. */
export function documentId({ url, sourceId, title, text }: SourceDocument): string {
  const canonical = url === undefined ? undefined : canonicalUrl(url);
  if (canonical !== undefined) return `doc-${digest('url', canonical)}`;
  if (sourceId !== undefined) return `doc-${digest('id', sourceId)}`;
  return `doc-${digest('text', `${title}\n${text}`)}`;
}

/** `q-` and a digest of question, answer and documents. */
export const questionId = (
  question: string,
  answer: string,
  documents: readonly string[],
): string => `q-${digest('question', JSON.stringify([question, answer, documents]))}`;
