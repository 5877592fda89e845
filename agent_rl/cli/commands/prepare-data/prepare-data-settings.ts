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
import { numberIn, type Values } from '../../flags/flag.ts';
import type { prepareDataFlags } from './prepare-data-flags.ts';

type Given = Values<typeof prepareDataFlags>;

const invalid = (message: string): AgentRlError => new AgentRlError('CONFIG_INVALID', message);

/** @throws AgentRlError `CONFIG_INVALID` */
function formatOf({ format: given }: Given): SourceFormat | undefined {
  const format = sourceFormats.find((known) => known === given);
  if (given === undefined || format !== undefined) return format;
  throw invalid(`--format ${given} is unknown. Known formats: ${sourceFormats.join(', ')}.`);
}

/**
 * The column map of `--column field=NAME`, `--url-column` and `--keep-columns`.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
function columnsOf({ column: given, urlColumn: url, keepColumns }: Given): ColumnMap {
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
  const keep = keepColumns?.split(',').map((name) => name.trim());
  return { ...Object.fromEntries(pairs), ...(url && { url }), ...(keep && { keep }) };
}

/** @throws AgentRlError `CONFIG_INVALID` */
function crawlOf(given: Given): CrawlSettings | undefined {
  if (!given.crawl) return undefined;
  const { cacheDir, requestsPerSecond, concurrency, batchSize, skipExisting } = given;
  const contact = given.contact?.trim() ?? '';
  if (!/@|^https?:\/\//.test(contact) || /[\r\n()]/.test(contact)) {
    throw invalid(
      `--contact is ${JSON.stringify(contact)}; expected a mail address or web page that identifies you to hosts. Write --contact you@example.org.`,
    );
  }
  return {
    contentDir: given.contentDir ?? join(cacheDir, 'content'),
    cacheDir,
    userAgent: `agent_rl/${packageVersion()} (prepare-data; +${contact})`,
    requestsPerSecond,
    concurrency,
    batchSize,
    skipExisting,
    pageTimeoutS: given.pageTimeout,
    pageDeadlineS: given.pageDeadline,
    maxRetries: given.maxRetries,
    maxPageBytes: Math.round(1e6 * given.maxPageMb),
    allowPrivate: given.allowPrivate,
  };
}

/** @throws AgentRlError `CONFIG_INVALID`, naming the flag. */
export function settingsOf(given: Given): Omit<PrepareDataOptions, 'source' | 'signal' | 'print'> {
  const { overwrite, skipInvalid, maxRecords, chunkTokens, splitBy, evalShare, seed } = given;
  const hubUrl = given.hubUrl ?? process.env['HF_ENDPOINT'] ?? 'https://huggingface.co';
  const overlap = { from: 0, to: chunkTokens - 1, whole: true };
  return {
    outputDir: given.output,
    overwrite,
    columns: columnsOf(given),
    skipInvalid,
    tokenizer: given.tokenizer ?? join(packageRoot(), 'model', 'starter'),
    chunkTokens,
    chunkOverlap: numberIn(overlap, given.chunkOverlap, 'chunk-overlap'),
    nearDuplicateThreshold: given.nearDuplicates,
    splitBy,
    evalShare,
    seed,
    cacheDir: given.cacheDir,
    hub: {
      hubUrl: hubUrl.replace(/\/+$/, ''),
      revision: given.revision,
      config: given.hubConfig,
      splits: given.hubSplit?.split(','),
    },
    format: formatOf(given),
    crawl: crawlOf(given),
    maxRecords,
  };
}
