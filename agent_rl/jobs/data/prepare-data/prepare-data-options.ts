import type { CrawlSettings } from '../../../search/crawl/index.ts';
import type { ColumnMap } from '../../../../dataset/prepare/readers/mapped-rows.ts';
import type { SourceFormat } from '../../../../dataset/prepare/readers/read-source.ts';
import type { SplitBy } from '../../../../dataset/prepare/split/split-questions.ts';

/** Where and how a dataset of the hub is read. */
export interface HubSettings {
  readonly hubUrl: string;
  readonly revision: string;
  readonly config?: string;
  readonly splits?: readonly string[];
}

/** What `agent-rl prepare-data` was asked to do. */
export interface PrepareDataOptions {
  /** A file, a folder, or a dataset of the hub as `owner/name`. */
  readonly source: string;
  readonly outputDir: string;
  readonly overwrite: boolean;
  /** Found out from the files when absent. */
  readonly format?: SourceFormat;
  readonly columns: ColumnMap;
  readonly maxRecords?: number;
  /** Records that cannot be read are dropped and reported, instead of an error. */
  readonly skipInvalid: boolean;
  /** Folder of the tokenizer that counts tokens. */
  readonly tokenizer: string;
  readonly chunkTokens: number;
  readonly chunkOverlap: number;
  readonly nearDuplicateThreshold: number;
  readonly evalShare: number;
  /** What may not be in train and eval both. */
  readonly splitBy: SplitBy;
  readonly seed: number;
  readonly cacheDir: string;
  readonly hub: HubSettings;
  /** Absent: documents have the texts that the source gives. */
  readonly crawl?: CrawlSettings;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}
