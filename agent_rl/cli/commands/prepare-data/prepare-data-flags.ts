import { join } from 'node:path';

import { splitBys } from '../../../../dataset/prepare/split/split-questions.ts';
import {
  aliased,
  choiceFlag,
  count,
  countOrZero,
  listFlag,
  numberFlag,
  requiredFlag,
  switchFlag,
  textFlag,
} from '../../flags/flag.ts';

/** The flags of `agent-rl data prepare`. */
export const prepareDataFlags = {
  output: aliased(
    requiredFlag('Folder for the documents, passages, splits and report'),
    'output-dir',
  ),
  overwrite: switchFlag('Replace the output of an earlier data prepare'),
  format: textFlag('medquad, hotpotqa, records or urls (default: detected from the files)'),
  column: listFlag('Column to read a field from, as FIELD=COLUMN: --column question=query'),
  'url-column': textFlag('Column with the URLs of the documents'),
  'keep-columns': textFlag('Columns to copy to the metadata of the tasks, separated by commas'),
  'max-records': numberFlag('Stop after this many records', count),
  'skip-invalid': switchFlag('Skip records that cannot be read, and report them'),
  tokenizer: textFlag(
    "Folder with the tokenizer.json to count tokens with (default: the starter model's)",
  ),
  'chunk-tokens': numberFlag('Maximum tokens per passage', { from: 16, whole: true }, 256),
  'chunk-overlap': numberFlag('Tokens shared by consecutive passages', countOrZero, 0),
  'near-duplicates': numberFlag(
    'Passages with at least this similarity count as duplicates; 1 means the same words',
    { from: 0.5, to: 1 },
    0.85,
  ),
  'eval-share': numberFlag('Fraction of questions to hold out', { from: 0, to: 1 }, 0.1),
  'split-by': choiceFlag(
    'What the splits must not share. passage: neither passages nor documents. document: only documents',
    splitBys,
    'passage',
  ),
  seed: numberFlag('Seed for choosing the held-out questions', countOrZero, 42),
  'cache-dir': textFlag('Folder of downloaded files and pages', join('.cache', 'prepare-data')),
  'hub-url': textFlag('URL of the dataset hub (default: HF_ENDPOINT or https://huggingface.co)'),
  revision: textFlag('Branch, tag or commit of a dataset on the hub', 'refs/convert/parquet'),
  'hub-config': textFlag('Configuration of the dataset, if it has several'),
  'hub-split': textFlag('Splits to read, separated by commas (default: all)'),
  crawl: switchFlag('Fetch the documents from their URLs'),
  contact: textFlag('Mail address or web page that identifies you to hosts; required by --crawl'),
  'content-dir': textFlag('Folder for the extracted text of pages (default: <cache-dir>/content)'),
  'skip-existing': switchFlag('Use cached pages; --no-skip-existing fetches them again', true),
  'batch-size': numberFlag('Log progress every N pages', count, 100),
  'requests-per-second': numberFlag(
    'Maximum requests per second to one host',
    { from: 0.01, to: 1000 },
    1,
  ),
  concurrency: numberFlag('Hosts to fetch from in parallel', { from: 1, to: 256, whole: true }, 8),
  'page-timeout': numberFlag('Timeout of one attempt, in seconds', { from: 0.05, to: 3600 }, 30),
  'page-deadline': numberFlag(
    'Timeout of a page including retries, in seconds',
    { from: 0.05, to: 86_400 },
    180,
  ),
  'max-retries': numberFlag(
    'Retries after status 429, 5xx and broken connections',
    { from: 0, to: 20, whole: true },
    3,
  ),
  'max-page-mb': numberFlag('Maximum page size, in MB', { from: 0.001, to: 100 }, 5),
  'allow-private': switchFlag('Also fetch private and loopback addresses'),
};
