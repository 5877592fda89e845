export { type CrawlCounts, crawlPages } from './crawl-pages.ts';
export type { CrawlSettings } from './page-fetcher.ts';
