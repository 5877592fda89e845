import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { AgentRlError } from '../../../core/errors.ts';
import { packageRoot } from '../../../core/package-root.ts';
import type { CrawlSettings } from '../../../search/crawl/index.ts';
import { type ColumnMap, mappable } from '../../../../dataset/prepare/readers/mapped-rows.ts';
import {
  type SourceFormat,
  sourceFormats,
} from '../../../../dataset/prepare/readers/read-source.ts';
import type { Parsed } from '../../config-flags.ts';

const invalid = (message: string): AgentRlError => new AgentRlError('CONFIG_INVALID', message);

export function textOf(parsed: Parsed, flag: string): string | undefined {
  const value = parsed[flag];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

interface Range {
  least: number;
  most?: number;
  whole?: boolean;
}

/** @throws AgentRlError `CONFIG_INVALID` when the flag's number is out of its range. */
export function numberOf(parsed: Parsed, flag: string, { least, most, whole }: Range): number {
  const given = String(parsed[flag]).trim();
  const value = given === '' ? Number.NaN : Number(given);
  const inRange = value >= least && value <= (most ?? Infinity) && Number.isFinite(value);
  if (inRange && (whole !== true || Number.isSafeInteger(value))) return value;
  const kind = whole === true ? 'a whole number' : 'a number';
  const range = most === undefined ? `${least} or more` : `from ${least} to ${most}`;
  throw invalid(`--${flag} is ${given === '' ? 'empty' : given}; expected ${kind}, ${range}.`);
}

/** @throws AgentRlError `CONFIG_INVALID` */
export function formatOf(parsed: Parsed): SourceFormat | undefined {
  const given = textOf(parsed, 'format');
  const format = sourceFormats.find((known) => known === given);
  if (given === undefined || format !== undefined) return format;
  throw invalid(`--format ${given} is not known. Known: ${sourceFormats.join(', ')}.`);
}

/**
 * The column map of `--column field=NAME`, `--url-column` and `--keep-columns`.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
export function columnsOf(parsed: Parsed): ColumnMap {
  const given = (Array.isArray(parsed['column']) ? parsed['column'] : []).map(String);
  const pairs = given.map((pair) => {
    const at = pair.indexOf('=');
    const field = mappable.find((known) => known === pair.slice(0, Math.max(0, at)));
    const column = pair.slice(at + 1).trim();
    if (field === undefined || column === '') {
      throw invalid(`--column ${pair} is no FIELD=COLUMN. Fields: ${mappable.join(', ')}.`);
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
export function crawlOf(parsed: Parsed, cacheDir: string): CrawlSettings | undefined {
  if (parsed['crawl'] !== true) return undefined;
  const contact = textOf(parsed, 'contact')?.trim() ?? '';
  if (!/@|^https?:\/\//.test(contact) || /[\r\n()]/.test(contact)) {
    throw invalid(
      `--contact is ${JSON.stringify(contact)}; --crawl needs a mail address or a page there, so that hosts can tell who fetches: --contact you@example.org.`,
    );
  }
  return {
    contentDir: textOf(parsed, 'content-dir') ?? join(cacheDir, 'content'),
    cacheDir,
    userAgent: `agent_rl/${packageVersion()} (prepare-data; +${contact})`,
    requestsPerSecond: numberOf(parsed, 'requests-per-second', { least: 0.01, most: 1000 }),
    concurrency: numberOf(parsed, 'concurrency', { least: 1, most: 256, whole: true }),
    batchSize: numberOf(parsed, 'batch-size', { least: 1, whole: true }),
    skipExisting: parsed['skip-existing'] !== false,
    pageTimeoutS: numberOf(parsed, 'page-timeout', { least: 0.05, most: 3600 }),
    pageDeadlineS: numberOf(parsed, 'page-deadline', { least: 0.05, most: 86_400 }),
    maxRetries: numberOf(parsed, 'max-retries', { least: 0, most: 20, whole: true }),
    maxPageBytes: Math.round(1e6 * numberOf(parsed, 'max-page-mb', { least: 0.001, most: 100 })),
    allowPrivate: parsed['allow-private'] === true,
  };
}

function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}
