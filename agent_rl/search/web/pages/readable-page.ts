import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import Turndown from 'turndown';

import { messageOf } from '../../../core/errors.ts';
import { WebFailure } from '../web-failure.ts';

export interface ReadablePage {
  title: string;
  /** Markdown. */
  text: string;
}

const unseen = 'script, style, noscript, template, iframe, svg';

const describing = 'title, meta, link, base';

/** Tags past which a page is not parsed: it would keep this thread busy. Real pages have some thousands. */
const mostTags = 50_000;
/** Open elements inside one another past which parsers run out of stack. Browsers stop at 512. */
const deepest = 512;

/**
 * The readable part of an HTML page, without navigation, advertisements and scripts. May take very long: see
 * `readInThread`.
 *
 * @throws WebFailure `bad-response` for a page that is too large, nested too deep or too broken to be parsed.
 */
export function readablePage(html: string): ReadablePage {
  try {
    requireModest(html);
    return takeApart(html);
  } catch (thrown) {
    if (thrown instanceof WebFailure) throw thrown;
    const text = `the page cannot be parsed: ${messageOf(thrown)}`;
    throw new WebFailure('bad-response', text, { cause: thrown });
  }
}

function takeApart(html: string): ReadablePage {
  const { document } = parseHTML(withHeadAndBody(html));
  for (const element of document.querySelectorAll(unseen)) element.remove();
  // Where a page leaves its tags out, what describes it stands among what it shows.
  for (const element of document.querySelectorAll(describing)) document.head.append(element);
  // A text of its own for each escape would take Readability the square of their number.
  document.body.normalize();
  const title = document.title.trim();
  // Readability consumes the document, so what it finds nothing in is kept aside.
  const body = document.body.innerHTML;
  const article = new Readability(document).parse();
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
  const content = parseHTML(`<html><body>${article?.content ?? body}</body></html>`).document.body;
  content.normalize();
  const text = turndown.turndown(content).trim();
  return { title: article?.title?.trim() || title, text };
}

/** Start and end tags that HTML lets a page leave out, and the parser does not make up. */
const optional = /<!doctype[^>]*>|<\/?(?:html|head|body)(?=[\s/>])(?:[^>"']|"[^"]*"|'[^']*')*>/gi;

const withHeadAndBody = (html: string): string =>
  `<!doctype html><html><head></head><body>${html.replaceAll(optional, '')}</body></html>`;

/** Elements that hold no other, or that the parser closes before the next of their kind. */
const flat = /^(?:br|hr|img|input|link|meta|p|li|td|tr|th|dt|dd|option|source|wbr)$/;

function requireModest(html: string): void {
  const open: string[] = [];
  let tags = 0;
  for (const [, closing, written = ''] of html.matchAll(/<(\/?)([a-z][^\s<>/]{0,40})/gi)) {
    tags += 1;
    const name = written.toLowerCase();
    if (closing === '/') {
      // An end tag that ends nothing is left out.
      const place = open.lastIndexOf(name);
      if (place >= 0) open.length = place;
    } else if (!flat.test(name)) open.push(name);
    if (tags > mostTags || open.length > deepest) {
      throw new WebFailure('bad-response', 'the page is too large to be parsed');
    }
  }
}
