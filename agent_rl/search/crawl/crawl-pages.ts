import PQueue from 'p-queue';

import { closePageThread } from '../web/pages/read-in-thread.ts';
import { isLasting } from './crawl-failure.ts';
import type { CrawlSettings } from './crawl-settings.ts';
import { PageFetcher, type PageFetcherOptions } from './page-fetcher.ts';
import { type PageContent, PageStore, type RawPage } from './page-store.ts';
import { readPage } from './read-page.ts';

/** A page to fetch, and the name it is stored under. */
export interface CrawlTarget {
  id: string;
  url: string;
}

export interface CrawlOptions extends Omit<PageFetcherOptions, 'settings'> {
  settings: CrawlSettings;
  signal: AbortSignal;
  print: (text: string) => void;
}

export interface CrawlCounts {
  /** Pages that were asked for over the network. */
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
  const store = new PageStore(settings.contentDir, settings.cacheDir);
  const fetcher = new PageFetcher(options);
  const pages = new Map<string, PageContent>();
  const counts = { fetched: 0, known: 0, failed: 0 };
  const take = async (target: CrawlTarget): Promise<void> => {
    const stored = settings.skipExisting ? await storedPage(target, { store, signal }) : undefined;
    const content = stored ?? (await fetchPage(target, { store, fetcher, signal }));
    counts[stored === undefined ? 'fetched' : 'known'] += 1;
    if ('failure' in content) counts.failed += 1;
    pages.set(target.id, content);
    if (pages.size % settings.batchSize === 0 || pages.size === targets.length) {
      const { fetched, known, failed } = counts;
      options.print(
        `pages ${pages.size}/${targets.length}: ${fetched} fetched, ${known} known, ${failed} without a text`,
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

/** What is on disk of a page: its text, or the page itself, which is then read. */
async function storedPage(
  { id }: CrawlTarget,
  { store, signal }: Omit<Fetching, 'fetcher'>,
): Promise<PageContent | undefined> {
  const content = store.content(id);
  if (content !== undefined) return content;
  const raw = store.raw(id);
  if (raw === undefined) return undefined;
  return readAndSave(id, raw, { store, signal });
}

interface Fetching {
  store: PageStore;
  fetcher: PageFetcher;
  signal: AbortSignal;
}

async function fetchPage(
  { id, url }: CrawlTarget,
  { store, fetcher, signal }: Fetching,
): Promise<PageContent> {
  const fetched = await fetcher.fetch(new URL(url), signal);
  if ('kind' in fetched) {
    const content = { url, failure: fetched };
    if (isLasting(fetched)) store.saveContent(id, content);
    return content;
  }
  store.saveRaw(id, fetched);
  return readAndSave(id, fetched, { store, signal });
}

/** What another attempt might read is kept as it came only. */
async function readAndSave(
  id: string,
  raw: RawPage,
  { store, signal }: Omit<Fetching, 'fetcher'>,
): Promise<PageContent> {
  const content = await readPage(raw, signal);
  if (!('failure' in content) || isLasting(content.failure)) store.saveContent(id, content);
  return content;
}

/** Pages of each host, in order. */
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
