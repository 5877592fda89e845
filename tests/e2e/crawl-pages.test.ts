import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { crawlPages } from '#agent_rl/search/crawl/crawl-pages.ts';
import type { CrawlSettings } from '#agent_rl/search/crawl/page-fetcher.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectRejection } from '../support/thrown.ts';
import {
  type Answer,
  flood,
  hang,
  html,
  inTurn,
  redirect,
  status,
  webServer,
} from '../support/web-server.ts';

const folder = temporaryFolder();
const server = webServer();
const userAgent = 'agent_rl/0.1.0 (prepare-data; +test@example.org)';
let crawls = 0;

const freshSettings = (): CrawlSettings => {
  const cacheDir = join(folder, `crawl-${crawls++}`);
  return {
    contentDir: join(cacheDir, 'content'),
    cacheDir,
    userAgent,
    requestsPerSecond: 1000,
    concurrency: 4,
    batchSize: 100,
    skipExisting: true,
    pageTimeoutS: 5,
    pageDeadlineS: 10,
    maxRetries: 2,
    maxPageBytes: 200_000,
    allowPrivate: true,
  };
};

const article = (title: string): string =>
  `<html><head><title>${title}</title></head><body><nav>Home | About</nav><article><h1>${title}</h1>
   <p>${'A sentence of the article, with some length. '.repeat(10)}</p><p>Last paragraph.</p></article></body></html>`;

/** Answers by path; robots.txt is absent unless it is given. */
const site = (pages: Readonly<Record<string, Answer>>): void => {
  server.answer = (request, response) => (pages[request.path] ?? status(404))(request, response);
};

const crawl = (
  paths: readonly string[],
  settings: CrawlSettings = freshSettings(),
  signal: AbortSignal = new AbortController().signal,
) =>
  crawlPages(
    paths.map((path) => ({ id: `page-${path.replaceAll(/\W/g, '')}`, url: server.origin + path })),
    { settings, environment: {}, signal, print: () => {} },
  );

const failureOf = async (path: string, settings?: CrawlSettings): Promise<string | undefined> => {
  const { pages } = await crawl([path], settings);
  const [page] = pages.values();
  return page !== undefined && 'failure' in page ? page.failure.kind : undefined;
};

const askedFor = (): string[] => server.received.map(({ path }) => path);

beforeEach(() => {
  server.received.length = 0;
});

describe('A page', () => {
  test('is reduced to its article as Markdown, without navigation', async () => {
    site({ '/a': html(article('Beans')) });
    const { pages, counts } = await crawl(['/a']);
    const page = pages.get('page-a');
    expect(page).toMatchObject({ title: 'Beans', url: `${server.origin}/a` });
    expect(page).toMatchObject({ text: expect.stringContaining('Last paragraph.') });
    expect(JSON.stringify(page)).not.toContain('About');
    expect(counts).toEqual({ fetched: 1, known: 0, failed: 0 });
  });

  test('is requested with the contact address, after robots.txt', async () => {
    site({ '/a': html(article('A')) });
    await crawl(['/a']);
    expect(askedFor()).toEqual(['/robots.txt', '/a']);
    expect(server.received.map(({ headers }) => headers['user-agent'])).toEqual([
      userAgent,
      userAgent,
    ]);
  });
});

describe('The file robots.txt', () => {
  const robots = (text: string): Answer => html(text, 'text/plain');

  test('excludes the pages that it disallows', async () => {
    site({
      '/robots.txt': robots('User-agent: agent_rl\nDisallow: /private\n\nUser-agent: *\nAllow: /'),
      '/private/a': html(article('A')),
      '/b': html(article('B')),
    });
    const { pages } = await crawl(['/private/a', '/b']);
    expect(pages.get('page-privatea')).toMatchObject({ failure: { kind: 'robots-disallowed' } });
    expect(pages.get('page-b')).toMatchObject({ title: 'B' });
    expect(askedFor()).toEqual(['/robots.txt', '/b']);
  });

  test('is consulted for the target of a redirect', async () => {
    site({
      '/robots.txt': robots('User-agent: *\nDisallow: /private'),
      '/a': redirect('/private/a'),
    });
    expect(await failureOf('/a')).toBe('robots-disallowed');
    expect(askedFor()).not.toContain('/private/a');
  });

  test('disallows every page when it cannot be fetched', async () => {
    site({ '/robots.txt': status(503), '/a': html(article('A')) });
    const settings = { ...freshSettings(), maxRetries: 0 };
    expect(await failureOf('/a', settings)).toBe('robots-unreachable');
    expect(askedFor()).not.toContain('/a');
  });

  test('delays requests by its Crawl-delay', async () => {
    const times: number[] = [];
    const timed: Answer = (request, response) => {
      times.push(performance.now());
      html(article('A'))(request, response);
    };
    site({
      '/robots.txt': robots('User-agent: *\nCrawl-delay: 0.3'),
      '/a': timed,
      '/b': timed,
      '/c': timed,
    });
    await crawl(['/a', '/b', '/c']);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    // Timers may fire a little early, and the server's clock starts when the request is there.
    expect(Math.min(...gaps)).toBeGreaterThan(250);
  });
});

test('a page that crashes the parser yields no text, and the crawl continues', async () => {
  site({
    '/cut': html('<!doctype html><html lang="en" '),
    '/deep': html('<div>'.repeat(600)),
    '/a': html(article('A')),
  });
  const { pages, counts } = await crawl(['/cut', '/deep', '/a']);
  expect(counts).toEqual({ fetched: 3, known: 0, failed: 2 });
  expect(pages.get('page-cut')).toMatchObject({ failure: { kind: 'no-readable-text' } });
  expect(pages.get('page-deep')).toMatchObject({ failure: { kind: 'bad-response' } });
  expect(pages.get('page-a')).toMatchObject({ title: 'A' });
});

test('the crawler keeps the rate limit of each host, including retries', async () => {
  const times: number[] = [];
  const answers = inTurn(status(500), html(article('A')));
  server.answer = (request, response) => {
    times.push(performance.now());
    (request.path === '/robots.txt' ? status(404) : answers)(request, response);
  };
  await crawl(['/a', '/b', '/c'], { ...freshSettings(), requestsPerSecond: 5 });
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(times).toHaveLength(5);
  expect(Math.min(...gaps)).toBeGreaterThan(150);
});

describe('A failed request', () => {
  test.each<[string, Answer, string]>([
    ['a page of 100 MB', flood(100_000_000, 'text/html'), 'too-large'],
    ['a page without text', html('<html><body></body></html>'), 'no-readable-text'],
  ])('is reported by its kind: %s', async (_name, answer, kind) => {
    site({ '/a': answer });
    const settings = freshSettings();
    expect(await failureOf('/a', settings)).toBe(kind);
    // It would fail again: it is not asked for another time.
    const { counts } = await crawl(['/a'], settings);
    expect(counts).toEqual({ fetched: 0, known: 1, failed: 1 });
  });

  test('ends by the deadline and is retried by the next crawl', async () => {
    site({ '/a': hang });
    const settings = { ...freshSettings(), pageTimeoutS: 0.3, pageDeadlineS: 0.8 };
    const begin = performance.now();
    expect(await failureOf('/a', settings)).toBe('timeout');
    expect(performance.now() - begin).toBeLessThan(60_000);
    site({ '/a': html(article('A')) });
    expect(await failureOf('/a', settings)).toBeUndefined();
  });

  test('is refused for a private address, also as the target of a redirect', async () => {
    site({ '/a': html(article('A')) });
    expect(await failureOf('/a', { ...freshSettings(), allowPrivate: false })).toBe(
      'address-refused',
    );
    expect(server.received).toEqual([]);
  });
});

describe('The crawl on disk', () => {
  const pages = { '/a': html(article('A')), '/b': html(article('B')), '/c': html(article('C')) };

  test('is not fetched again unless requested', async () => {
    site(pages);
    const settings = freshSettings();
    await crawl(['/a', '/b'], settings);
    server.received.length = 0;
    expect((await crawl(['/a', '/b'], settings)).counts).toMatchObject({ fetched: 0, known: 2 });
    expect(server.received).toEqual([]);
    await crawl(['/a', '/b'], { ...settings, skipExisting: false });
    expect(askedFor()).toEqual(['/robots.txt', '/a', '/b']);
  });

  test('yields the texts again from stored pages, without the network', async () => {
    site(pages);
    const settings = freshSettings();
    const first = await crawl(['/a'], settings);
    const other = { ...settings, contentDir: join(settings.cacheDir, 'other') };
    server.received.length = 0;
    expect((await crawl(['/a'], other)).pages).toEqual(first.pages);
    expect(server.received).toEqual([]);
  });

  test('lets an interrupted crawl continue', async () => {
    const settings = freshSettings();
    const stop = new AbortController();
    const interrupting: Answer = () => stop.abort(new Error('stopped'));
    site({ ...pages, '/b': interrupting });
    await expect(crawl(['/a', '/b', '/c'], settings, stop.signal)).rejects.toThrow('stopped');
    expect(readdirSync(settings.contentDir)).toEqual(['page-a.json']);
    site(pages);
    server.received.length = 0;
    const { counts } = await crawl(['/a', '/b', '/c'], settings);
    expect(counts).toEqual({ fetched: 2, known: 1, failed: 0 });
    expect(askedFor()).toEqual(['/robots.txt', '/b', '/c']);
  });

  test('is refused by its name when it is damaged', async () => {
    site(pages);
    const settings = freshSettings();
    await crawl(['/a'], settings);
    const file = join(settings.contentDir, 'page-a.json');
    expect(existsSync(file)).toBe(true);
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, 20));
    await expectRejection(crawl(['/a'], settings), 'DATASET_INVALID', file);
  });
});
