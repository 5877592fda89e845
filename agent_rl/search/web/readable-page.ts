import { WebFailure } from './web-failure.ts';

export interface ReadablePage {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
}

/** Elements that no reader sees. */
const unseen = 'script, style, noscript, template, iframe, svg';

/** Tags past which a page is not taken apart: it would keep this thread busy. Real pages have some thousands. */
const mostTags = 50_000;
/** Open elements inside one another past which parsers run out of stack. Browsers stop at 512. */
const deepest = 512;

/**
 * The readable part of an HTML page, without navigation, advertisements and scripts.
 *
 * @throws WebFailure `bad-response` for a page that is too large or nested too deep to be taken apart.
 */
export async function readablePage(html: string): Promise<ReadablePage> {
  requireModest(html);
  // Late: these are large, and this file is loaded wherever tools are listed.
  const [{ Readability }, { parseHTML }, { default: Turndown }] = await Promise.all([
    import('@mozilla/readability'),
    import('linkedom'),
    import('turndown'),
  ]);
  const whole = withHeadAndBody(html);
  const { document } = parseHTML(whole);
  for (const element of document.querySelectorAll(unseen)) element.remove();
  const title = document.title.trim();
  // Readability takes the document apart, so what it finds nothing in is kept aside.
  const body = document.body?.innerHTML ?? '';
  const article = new Readability(document).parse();
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
  const content = parseHTML(`<html><body>${article?.content ?? body}</body></html>`).document.body;
  const text = turndown.turndown(content).trim();
  return { title: article?.title?.trim() || title, text };
}

/** linkedom makes up neither `<html>` nor `<head>`, both of which HTML lets a page leave out. */
function withHeadAndBody(html: string): string {
  if (!/<html[\s>]/i.test(html)) return `<html><body>${html}</body></html>`;
  if (/<head[\s>]/i.test(html)) return html;
  return html.replace(/(<html[^>]*>)(.*?)(?=<body[\s>])/is, '$1<head>$2</head>');
}

function requireModest(html: string): void {
  let tags = 0;
  let depth = 0;
  for (const [tag] of html.matchAll(/<\/?[a-z][^<>]{0,40}/gi)) {
    tags += 1;
    if (tag.startsWith('</')) depth = Math.max(0, depth - 1);
    else if (!/^<(?:br|hr|img|input|link|meta|p|li|td|tr|th|dt|dd|option|source|wbr)\b/i.test(tag))
      depth += 1;
    if (tags > mostTags || depth > deepest) {
      throw new WebFailure('bad-response', 'the page is too large to be taken apart');
    }
  }
}
