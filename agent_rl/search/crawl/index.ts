export { type CrawlCounts, crawlPages } from './crawl-pages.ts';
export type { CrawlFailureKind } from './crawl-failure.ts';
export type { CrawlSettings } from './crawl-settings.ts';
