/** How pages are fetched. */
export interface CrawlSettings {
  /** Folder of readable texts, one file a page. */
  readonly contentDir: string;
  /** Folder of the pages as they came, so that they can be read anew without being fetched. */
  readonly cacheDir: string;
  /** Sent with every request; robots.txt is read for it. */
  readonly userAgent: string;
  /** Most requests a second to one host; a longer Crawl-delay of its robots.txt is kept. */
  readonly requestsPerSecond: number;
  /** Hosts asked at once; each is asked for one page after the other. */
  readonly concurrency: number;
  /** Pages between two lines of progress. */
  readonly batchSize: number;
  /** Pages whose text or lasting failure is known are not fetched again. */
  readonly skipExisting: boolean;
  /** Seconds one attempt may take. */
  readonly pageTimeoutS: number;
  /** Seconds a page may take with its retries and the waiting between them. */
  readonly pageDeadlineS: number;
  readonly maxRetries: number;
  readonly maxPageBytes: number;
  /** Private and loopback addresses are fetched too. */
  readonly allowPrivate: boolean;
}
