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
    requiredFlag('Folder for documents, passages, both splits and the report'),
    'output-dir',
  ),
  overwrite: switchFlag('Replace the files of an earlier run in the output folder'),
  format: textFlag('medquad, hotpotqa, records or urls; found from the files by default'),
  column: listFlag('What a column holds, as FIELD=COLUMN: --column question=query'),
  'url-column': textFlag('Column with the addresses of the documents'),
  'keep-columns': textFlag('Columns to keep in the metadata of the tasks, separated by commas'),
  'max-records': numberFlag('Stop after this many records', count),
  'skip-invalid': switchFlag('Leave out records that cannot be read, and report them'),
  tokenizer: textFlag('Folder with the tokenizer.json that counts tokens; the starter model’s'),
  'chunk-tokens': numberFlag('Most tokens in a passage', { from: 16, whole: true }, 256),
  'chunk-overlap': numberFlag('Tokens that a passage repeats from the one before', countOrZero, 0),
  'near-duplicates': numberFlag(
    'Keep one of several passages this similar; 1: same words',
    { from: 0.5, to: 1 },
    0.85,
  ),
  'eval-share': numberFlag('Fraction of the questions to hold out', { from: 0, to: 1 }, 0.1),
  'split-by': choiceFlag(
    'passage: no passage is in both splits; document: no document is',
    splitBys,
    'passage',
  ),
  seed: numberFlag('Seed of the choice of what is held out', countOrZero, 42),
  'cache-dir': textFlag('Folder of downloaded files and pages', join('.cache', 'prepare-data')),
  'hub-url': textFlag('Hub of datasets; HF_ENDPOINT, or https://huggingface.co'),
  revision: textFlag('Branch, tag or commit of a dataset on the hub', 'refs/convert/parquet'),
  'hub-config': textFlag('Configuration of a dataset that has several'),
  'hub-split': textFlag('Splits to read, separated by commas; all by default'),
  crawl: switchFlag('Fetch the texts of the documents from their addresses'),
  contact: textFlag('Mail address or page that tells hosts who is asking; needed by --crawl'),
  'content-dir': textFlag('Folder for the readable text of the pages; <cache-dir>/content'),
  'skip-existing': switchFlag(
    'Do not fetch what is in the cache; --no-skip-existing fetches anew',
    true,
  ),
  'batch-size': numberFlag('Pages between two lines of progress', count, 100),
  'requests-per-second': numberFlag(
    'Most requests a second to one host',
    { from: 0.01, to: 1000 },
    1,
  ),
  concurrency: numberFlag('Hosts asked at once', { from: 1, to: 256, whole: true }, 8),
  'page-timeout': numberFlag('Seconds that one attempt may take', { from: 0.05, to: 3600 }, 30),
  'page-deadline': numberFlag(
    'Seconds that a page may take, retries and waiting included',
    { from: 0.05, to: 86_400 },
    180,
  ),
  'max-retries': numberFlag(
    'Further attempts after 429, 5xx and broken connections',
    { from: 0, to: 20, whole: true },
    3,
  ),
  'max-page-mb': numberFlag('Largest page, in MB', { from: 0.001, to: 100 }, 5),
  'allow-private': switchFlag('Fetch private and loopback addresses too'),
};
