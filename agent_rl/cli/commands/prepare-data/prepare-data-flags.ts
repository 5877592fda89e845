import { join } from 'node:path';

import type { Options } from 'yargs';

import { splitBys } from '../../../../dataset/prepare/split/split-questions.ts';

/** A flag with a value. */
const text = (describe: string, more: Options = {}): Options => ({
  type: 'string',
  requiresArg: true,
  describe,
  ...more,
});

const number = (describe: string, value?: number): Options => ({
  type: 'number',
  requiresArg: true,
  describe,
  ...(value === undefined ? {} : { default: value }),
});

const flag = (describe: string, value = false): Options => ({
  type: 'boolean',
  default: value,
  describe,
});

/** The flags of `agent-rl prepare-data`. */
export const prepareDataFlags: Readonly<Record<string, Options>> = {
  'output-dir': text('Folder for documents, chunks, train, eval and the report', {
    demandOption: true,
  }),
  overwrite: flag('Replace the files of an earlier run in the output folder'),
  format: text('medquad, hotpotqa, records or urls; found out from the files when absent'),
  column: text('What a column holds, as FIELD=COLUMN: --column question=query', {
    array: true,
    nargs: 1,
  }),
  'url-column': text('Column of the documents’ addresses'),
  'keep-columns': text('Columns, with commas, to keep in the tasks’ metadata'),
  'max-records': number('Stop after so many records'),
  'skip-invalid': flag('Leave out records that cannot be read, and report them'),
  tokenizer: text('Folder with the tokenizer.json that counts tokens; the starter model’s'),
  'chunk-tokens': number('Most tokens of a passage', 256),
  'chunk-overlap': number('Tokens that a passage repeats of the one before', 0),
  'near-duplicates': number('Similarity from which passages are kept once; 1: same words', 0.85),
  'eval-share': number('Share of the questions to hold out', 0.1),
  'split-by': text('passage: no passage is in both splits; document: no document is', {
    default: 'passage',
    choices: splitBys,
  }),
  seed: number('Decides which documents are held out', 42),
  'cache-dir': text('Folder of downloaded files and pages', {
    default: join('.cache', 'prepare-data'),
  }),
  'hub-url': text('Hub of datasets; HF_ENDPOINT, or https://huggingface.co'),
  revision: text('Branch, tag or commit of a dataset of the hub', {
    default: 'refs/convert/parquet',
  }),
  'hub-config': text('Configuration of a dataset that has several'),
  'hub-split': text('Splits to read, with commas; all when absent'),
  crawl: flag('Fetch the documents’ texts from their addresses'),
  contact: text('Mail address or page that tells hosts who fetches'),
  'content-dir': text('Folder of the pages’ readable texts; <cache-dir>/content'),
  'skip-existing': flag('Do not fetch what is in the cache; --no-skip-existing fetches anew', true),
  'batch-size': number('Pages between two lines of progress', 100),
  'requests-per-second': number('Most requests a second to one host', 1),
  concurrency: number('Hosts asked at once', 8),
  'page-timeout': number('Seconds one attempt may take', 30),
  'page-deadline': number('Seconds a page may take, retries and waiting included', 180),
  'max-retries': number('Further attempts after 429, 5xx and broken connections', 3),
  'max-page-mb': number('Largest page, in MB', 5),
  'allow-private': flag('Fetch private and loopback addresses too'),
  json: flag('Print the report as JSON on stdout'),
};
