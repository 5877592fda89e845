import { decodeText, mimeOf } from '../web/pages/decode-text.ts';
import { readInThread } from '../web/pages/read-in-thread.ts';
import { WebFailure } from '../web/web-failure.ts';
import type { PageContent, RawPage } from './page-store.ts';

const textTypes = /^(?:text\/(?:html|plain|markdown)|application\/xhtml\+xml)$/;

/**
 * The readable text of a page as Markdown, or why it has none.
 *
 * @throws The signal's reason.
 */
export async function readPage(
  { url, contentType, body }: RawPage,
  signal: AbortSignal,
): Promise<PageContent> {
  const mime = mimeOf(contentType);
  if (mime !== '' && !textTypes.test(mime)) {
    return { url, failure: { kind: 'not-text', detail: `the page is ${mime.slice(0, 60)}` } };
  }
  try {
    const { text: source } = decodeText(body, contentType);
    const isHtml = mime.includes('html') || /^\s*<(?:!doctype|html)/i.test(source);
    const { title, text } = isHtml
      ? await readInThread(source, { signal })
      : { title: '', text: source.trim() };
    if (text !== '') return { url, title, text };
    return { url, failure: { kind: 'no-readable-text', detail: 'the page shows no text' } };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof WebFailure)) throw error;
    return { url, failure: { kind: error.kind, detail: error.message } };
  }
}
