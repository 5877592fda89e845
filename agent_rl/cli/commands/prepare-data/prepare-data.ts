import { join } from 'node:path';

import type { PrepareDataOptions } from '../../../jobs/data/prepare-data/prepare-data-options.ts';
import { packageRoot } from '../../../core/package-root.ts';
import type { Command } from '../../command.ts';
import type { Parsed } from '../../config-flags.ts';
import { printer, writeJson } from '../../io.ts';
import { prepareDataFlags } from './prepare-data-flags.ts';
import { columnsOf, crawlOf, formatOf, numberOf, textOf } from './prepare-data-settings.ts';

export const prepareDataCommand: Command = {
  name: 'prepare-data <source>',
  describe: 'Make documents, passages and questions with a split from a dataset or a list of pages',
  positionals: {
    source: {
      type: 'string',
      demandOption: true,
      describe: 'File, folder, or dataset of the hub as owner/name',
    },
  },
  options: prepareDataFlags,
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const options = { signal: io.signal, print: printer(io, json) };
    const report = await jobs.prepareData({ ...settingsOf(parsed), ...options });
    if (json) writeJson(io, report);
    return 0;
  },
};

/** @throws AgentRlError `CONFIG_INVALID`, naming the flag. */
function settingsOf(parsed: Parsed): Omit<PrepareDataOptions, 'signal' | 'print'> {
  const cacheDir = String(parsed['cache-dir']);
  const format = formatOf(parsed);
  const crawl = crawlOf(parsed, cacheDir);
  const hubUrl =
    textOf(parsed, 'hub-url') ?? process.env['HF_ENDPOINT'] ?? 'https://huggingface.co';
  const config = textOf(parsed, 'hub-config');
  const splits = textOf(parsed, 'hub-split')?.split(',');
  const maxRecords =
    parsed['max-records'] === undefined
      ? {}
      : { maxRecords: numberOf(parsed, 'max-records', { least: 1, whole: true }) };
  const chunkTokens = numberOf(parsed, 'chunk-tokens', { least: 16, whole: true });
  return {
    source: String(parsed['source']),
    outputDir: String(parsed['output-dir']),
    overwrite: parsed['overwrite'] === true,
    columns: columnsOf(parsed),
    skipInvalid: parsed['skip-invalid'] === true,
    tokenizer: textOf(parsed, 'tokenizer') ?? join(packageRoot(), 'model', 'starter'),
    chunkTokens,
    chunkOverlap: numberOf(parsed, 'chunk-overlap', {
      least: 0,
      most: chunkTokens - 1,
      whole: true,
    }),
    nearDuplicateThreshold: numberOf(parsed, 'near-duplicates', { least: 0.5, most: 1 }),
    splitBy: parsed['split-by'] === 'document' ? 'document' : 'passage',
    evalShare: numberOf(parsed, 'eval-share', { least: 0, most: 1 }),
    seed: numberOf(parsed, 'seed', { least: 0, whole: true }),
    cacheDir,
    hub: {
      hubUrl: hubUrl.replace(/\/+$/, ''),
      revision: String(parsed['revision']),
      ...(config === undefined ? {} : { config }),
      ...(splits === undefined ? {} : { splits }),
    },
    ...(format === undefined ? {} : { format }),
    ...(crawl === undefined ? {} : { crawl }),
    ...maxRecords,
  };
}
