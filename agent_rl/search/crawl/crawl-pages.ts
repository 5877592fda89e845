import PQueue from 'p-queue';

import { closePageThread, readInThread } from '../web/pages/read-in-thread.ts';
import { PageFetcher, type PageFetcherOptions } from './page-fetcher.ts';
import { isLasting, type PageContent, PageStore, type RawPage } from './page-store.ts';
import { decodeText, mimeOf } from '../web/pages/decode-text.ts';
import { WebFailure } from '../web/web-failure.ts';

/** A page to fetch, and the name it is stored under. */
export interface CrawlTarget {
  id: string;
  url: string;
}

export interface CrawlOptions extends PageFetcherOptions {
  signal: AbortSignal;
  print: (text: string) => void;
}

export interface CrawlCounts {
  /** Pages that were fetched over the network. */
  fetched: number;
  /** Pages that were on disk, with a text or with a lasting failure. */
  known: number;
  /** Pages without a text. */
  failed: number;
}

export interface Crawled {
  pages: ReadonlyMap<string, PageContent>;
  counts: CrawlCounts;
}

/**
 * Fetches pages and keeps their readable texts. Each page is on disk before the next one of its host is asked
 * for, so that a crawl that was interrupted goes on where it was.
 *
 * @throws AgentRlError `CONFIG_INVALID`, `OUTPUT_UNWRITABLE`, `DATASET_INVALID` for a damaged stored page; the
 *   signal's reason
 */
export async function crawlPages(
  targets: readonly CrawlTarget[],
  options: CrawlOptions,
): Promise<Crawled> {
  const { settings, signal } = options;
  const fetcher = new PageFetcher(options);
  const store = new PageStore(settings.contentDir, settings.cacheDir);
  const source = new PageSource(store, fetcher, signal);
  const pages = new Map<string, PageContent>();
  const counts = { fetched: 0, known: 0, failed: 0 };
  const take = async (target: CrawlTarget): Promise<void> => {
    const stored = settings.skipExisting ? await source.stored(target) : undefined;
    const content = stored ?? (await source.fetch(target));
    counts[stored === undefined ? 'fetched' : 'known'] += 1;
    if ('failure' in content) counts.failed += 1;
    pages.set(target.id, content);
    if (pages.size % settings.batchSize === 0 || pages.size === targets.length) {
      const { fetched, known, failed } = counts;
      options.print(
        `pages ${pages.size}/${targets.length}: ${fetched} fetched, ${known} stored earlier, ${failed} without text`,
      );
    }
  };
  const hosts = new PQueue({ concurrency: settings.concurrency });
  try {
    const lanes = byHost(targets).map((lane) =>
      hosts.add(async () => {
        for (const target of lane) {
          signal.throwIfAborted();
          await take(target);
        }
      }),
    );
    await Promise.all(lanes);
    return { pages, counts };
  } finally {
    hosts.clear();
    await fetcher.close();
    await closePageThread();
  }
}

class PageSource {
  constructor(
    private readonly store: PageStore,
    private readonly fetcher: PageFetcher,
    private readonly signal: AbortSignal,
  ) {}

  /** What is on disk of a page: its text, or the page itself, which is then read. */
  async stored({ id }: CrawlTarget): Promise<PageContent | undefined> {
    const content = this.store.content(id);
    if (content !== undefined) return content;
    const raw = this.store.raw(id);
    return raw === undefined ? undefined : this.#readAndSave(id, raw);
  }

  async fetch({ id, url }: CrawlTarget): Promise<PageContent> {
    const fetched = await this.fetcher.fetch(new URL(url), this.signal);
    if ('kind' in fetched) return this.#save(id, { url, failure: fetched });
    this.store.saveRaw(id, fetched);
    return this.#readAndSave(id, fetched);
  }

  async #readAndSave(id: string, raw: RawPage): Promise<PageContent> {
    return this.#save(id, await readPage(raw, this.signal));
  }

  /** What another attempt might change is not kept. */
  #save(id: string, content: PageContent): PageContent {
    if (!('failure' in content) || isLasting(content.failure)) this.store.saveContent(id, content);
    return content;
  }
}

function byHost(targets: readonly CrawlTarget[]): (readonly CrawlTarget[])[] {
  const lanes = new Map<string, CrawlTarget[]>();
  for (const target of targets) {
    const { host } = new URL(target.url);
    const lane = lanes.get(host) ?? [];
    lane.push(target);
    lanes.set(host, lane);
  }
  return [...lanes.values()];
}

const textTypes = /^(?:text\/(?:html|plain|markdown)|application\/xhtml\+xml)$/;

/**
 * The readable text of a page as Markdown, or why it has none.
 *
 * @throws The signal's reason.
 */
async function readPage(
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
