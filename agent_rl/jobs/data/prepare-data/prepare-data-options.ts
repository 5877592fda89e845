import type { CrawlSettings } from '../../../search/crawl/index.ts';
import type { ColumnMap } from '../../../../dataset/prepare/readers/mapped-rows.ts';
import type { SourceFormat } from '../../../../dataset/prepare/readers/read-source.ts';
import type { JobContext } from '../../job.ts';
import type { SplitBy } from '../../../../dataset/prepare/split/split-questions.ts';

/** Where and how a dataset of the hub is read. */
export interface HubSettings {
  hubUrl: string;
  revision: string;
  config?: string | undefined;
  splits?: readonly string[] | undefined;
}

/** What `agent-rl data prepare` was asked to do. */
export interface PrepareDataOptions extends JobContext {
  /** A file, a folder, or a dataset of the hub as `owner/name`. */
  source: string;
  outputDir: string;
  overwrite: boolean;
  /** Found out from the files when absent. */
  format?: SourceFormat | undefined;
  columns: ColumnMap;
  maxRecords?: number | undefined;
  /** Records that cannot be read are dropped and reported, instead of an error. */
  skipInvalid: boolean;
  /** Folder of the tokenizer that counts tokens. */
  tokenizer: string;
  chunkTokens: number;
  chunkOverlap: number;
  nearDuplicateThreshold: number;
  evalShare: number;
  /** What may not be in train and eval both. */
  splitBy: SplitBy;
  seed: number;
  cacheDir: string;
  hub: HubSettings;
  /** Absent: documents have the texts that the source gives. */
  crawl?: CrawlSettings | undefined;
}
