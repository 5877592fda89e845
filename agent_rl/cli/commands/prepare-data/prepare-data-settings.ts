import { join } from 'node:path';

import { AgentRlError } from '../../../core/errors.ts';
import type { PrepareDataOptions } from '../../../jobs/data/prepare-data/prepare-data-options.ts';
import { packageRoot, packageVersion } from '../../../core/package-root.ts';
import type { CrawlSettings } from '../../../search/crawl/index.ts';
import { type ColumnMap, mappable } from '../../../../dataset/prepare/readers/mapped-rows.ts';
import {
  type SourceFormat,
  sourceFormats,
} from '../../../../dataset/prepare/readers/read-source.ts';
import { numberGiven, numberOf, type Parsed, textOf } from '../../flags/flag.ts';

const invalid = (message: string): AgentRlError => new AgentRlError('CONFIG_INVALID', message);

/** @throws AgentRlError `CONFIG_INVALID` */
function formatOf(parsed: Parsed): SourceFormat | undefined {
  const given = textOf(parsed, 'format');
  const format = sourceFormats.find((known) => known === given);
  if (given === undefined || format !== undefined) return format;
  throw invalid(`--format ${given} is unknown. Known formats: ${sourceFormats.join(', ')}.`);
}

/**
 * The column map of `--column field=NAME`, `--url-column` and `--keep-columns`.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
function columnsOf(parsed: Parsed): ColumnMap {
  const given = (Array.isArray(parsed['column']) ? parsed['column'] : []).map(String);
  const pairs = given.map((pair) => {
    const at = pair.indexOf('=');
    const field = mappable.find((known) => known === pair.slice(0, Math.max(0, at)));
    const column = pair.slice(at + 1).trim();
    if (field === undefined || column === '') {
      throw invalid(
        `--column ${pair} is not of the form FIELD=COLUMN. Fields: ${mappable.join(', ')}.`,
      );
    }
    return [field, column] as const;
  });
  const url = textOf(parsed, 'url-column');
  const keep = textOf(parsed, 'keep-columns');
  return {
    ...Object.fromEntries(pairs),
    ...(url === undefined ? {} : { url }),
    ...(keep === undefined ? {} : { keep: keep.split(',').map((name) => name.trim()) }),
  };
}

/** @throws AgentRlError `CONFIG_INVALID` */
function crawlOf(parsed: Parsed, cacheDir: string): CrawlSettings | undefined {
  if (parsed['crawl'] !== true) return undefined;
  const contact = textOf(parsed, 'contact')?.trim() ?? '';
  if (!/@|^https?:\/\//.test(contact) || /[\r\n()]/.test(contact)) {
    throw invalid(
      `--contact is ${JSON.stringify(contact)}; --crawl needs a mail address or a page there, so that hosts can tell who is asking: --contact you@example.org.`,
    );
  }
  return {
    contentDir: textOf(parsed, 'content-dir') ?? join(cacheDir, 'content'),
    cacheDir,
    userAgent: `agent_rl/${packageVersion()} (prepare-data; +${contact})`,
    requestsPerSecond: numberGiven(parsed, 'requests-per-second', { from: 0.01, to: 1000 }),
    concurrency: numberGiven(parsed, 'concurrency', { from: 1, to: 256, whole: true }),
    batchSize: numberGiven(parsed, 'batch-size', { from: 1, whole: true }),
    skipExisting: parsed['skip-existing'] !== false,
    pageTimeoutS: numberGiven(parsed, 'page-timeout', { from: 0.05, to: 3600 }),
    pageDeadlineS: numberGiven(parsed, 'page-deadline', { from: 0.05, to: 86_400 }),
    maxRetries: numberGiven(parsed, 'max-retries', { from: 0, to: 20, whole: true }),
    maxPageBytes: Math.round(1e6 * numberGiven(parsed, 'max-page-mb', { from: 0.001, to: 100 })),
    allowPrivate: parsed['allow-private'] === true,
  };
}

/** @throws AgentRlError `CONFIG_INVALID`, naming the flag. */
export function settingsOf(parsed: Parsed): Omit<PrepareDataOptions, 'signal' | 'print'> {
  const cacheDir = String(parsed['cache-dir']);
  const format = formatOf(parsed);
  const crawl = crawlOf(parsed, cacheDir);
  const hubUrl =
    textOf(parsed, 'hub-url') ?? process.env['HF_ENDPOINT'] ?? 'https://huggingface.co';
  const config = textOf(parsed, 'hub-config');
  const splits = textOf(parsed, 'hub-split')?.split(',');
  const maxRecords = numberOf(parsed, 'max-records', { from: 1, whole: true });
  const chunkTokens = numberGiven(parsed, 'chunk-tokens', { from: 16, whole: true });
  return {
    source: String(parsed['source']),
    outputDir: String(parsed['output']),
    overwrite: parsed['overwrite'] === true,
    columns: columnsOf(parsed),
    skipInvalid: parsed['skip-invalid'] === true,
    tokenizer: textOf(parsed, 'tokenizer') ?? join(packageRoot(), 'model', 'starter'),
    chunkTokens,
    chunkOverlap: numberGiven(parsed, 'chunk-overlap', {
      from: 0,
      to: chunkTokens - 1,
      whole: true,
    }),
    nearDuplicateThreshold: numberGiven(parsed, 'near-duplicates', { from: 0.5, to: 1 }),
    splitBy: parsed['split-by'] === 'document' ? 'document' : 'passage',
    evalShare: numberGiven(parsed, 'eval-share', { from: 0, to: 1 }),
    seed: numberGiven(parsed, 'seed', { from: 0, whole: true }),
    cacheDir,
    hub: {
      hubUrl: hubUrl.replace(/\/+$/, ''),
      revision: String(parsed['revision']),
      ...(config === undefined ? {} : { config }),
      ...(splits === undefined ? {} : { splits }),
    },
    ...(format === undefined ? {} : { format }),
    ...(crawl === undefined ? {} : { crawl }),
    ...(maxRecords === undefined ? {} : { maxRecords }),
  };
}
