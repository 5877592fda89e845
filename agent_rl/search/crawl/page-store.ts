import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { AgentRlError, messageOf, nodeCodeOf } from '../../core/errors.ts';
import { writeFileAtomic } from '../../telemetry/atomic-write.ts';
import type { WebFailureKind } from '../web/web-failure.ts';

/** Why there is no text of a page. */
export type CrawlFailureKind =
  WebFailureKind | 'robots-disallowed' | 'robots-unreachable' | 'no-readable-text';

export interface CrawlFailure {
  kind: CrawlFailureKind;
  detail: string;
}

/** Failures that another attempt would meet again; the others may pass. */
const lasting: ReadonlySet<CrawlFailureKind> = new Set([
  'client-error',
  'redirect',
  'too-large',
  'bad-response',
  'not-text',
  'wrong-encoding',
  'no-readable-text',
] satisfies CrawlFailureKind[]);

export const isLasting = ({ kind }: CrawlFailure): boolean => lasting.has(kind);

/** A stored page: its text, or why it has no text. */
export type PageContent =
  { url: string; title: string; text: string } | { url: string; failure: CrawlFailure };

/** A page as it came. */
export interface RawPage {
  /** Where the redirects ended. */
  url: string;
  contentType: string;
  body: Buffer;
}

/** Pages on disk, a file each, written whole or not at all: an interrupted crawl continues where it was. */
export class PageStore {
  constructor(
    private readonly contentDir: string,
    private readonly cacheDir: string,
  ) {}

  /** @throws AgentRlError `DATASET_INVALID` for a damaged file. */
  content(id: string): PageContent | undefined {
    return readJsonFile(this.#contentFile(id)) as PageContent | undefined;
  }

  /** @throws AgentRlError `OUTPUT_UNWRITABLE` */
  saveContent(id: string, content: PageContent): void {
    writeFileAtomic(this.#contentFile(id), `${JSON.stringify(content, undefined, 2)}\n`);
  }

  /** @throws AgentRlError `DATASET_INVALID` for a damaged file. */
  raw(id: string): RawPage | undefined {
    const read = readJsonFile(this.#rawFile(id));
    if (read === undefined) return undefined;
    const { url, contentType, body } = read as Record<keyof RawPage, string>;
    return { url, contentType, body: Buffer.from(body, 'base64') };
  }

  /** @throws AgentRlError `OUTPUT_UNWRITABLE` */
  saveRaw(id: string, { url, contentType, body }: RawPage): void {
    const text = JSON.stringify({ url, contentType, body: body.toString('base64') });
    writeFileAtomic(this.#rawFile(id), text);
  }

  #contentFile(id: string): string {
    return join(this.contentDir, `${id}.json`);
  }

  #rawFile(id: string): string {
    return join(this.cacheDir, 'pages', `${id}.json`);
  }
}

function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    if (nodeCodeOf(cause) === 'ENOENT') return undefined;
    throw new AgentRlError(
      'DATASET_INVALID',
      `${file}: the stored page cannot be read (${messageOf(cause)}). Delete the file to fetch the page again.`,
      { cause },
    );
  }
}
