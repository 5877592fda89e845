/** How pages are fetched. */
export interface CrawlSettings {
  /** Folder of readable texts, one file a page. */
  contentDir: string;
  /** Folder of the pages as they came, so that they can be read anew without being fetched. */
  cacheDir: string;
  /** Sent with every request; robots.txt is read for it. */
  userAgent: string;
  /** Most requests a second to one host; a longer Crawl-delay of its robots.txt is kept. */
  requestsPerSecond: number;
  /** Hosts visited at once; each is asked for one page at a time. */
  concurrency: number;
  /** Pages between two lines of progress. */
  batchSize: number;
  /** Pages whose text or lasting failure is known are not fetched again. */
  skipExisting: boolean;
  /** Seconds one attempt may take. */
  pageTimeoutS: number;
  /** Seconds a page may take with its retries and the waiting between them. */
  pageDeadlineS: number;
  maxRetries: number;
  maxPageBytes: number;
  /** Private and loopback addresses are fetched too. */
  allowPrivate: boolean;
}
