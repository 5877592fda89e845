import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { downloadFile, HubApiError, listFiles, type ListFileEntry } from '@huggingface/hub';

import { AgentRlError, messageOf } from '../../agent_rl/core/errors.ts';

/** Branch on which the hub keeps every public dataset as Parquet, `<config>/<split>/0000.parquet`. */
export const parquetRevision = 'refs/convert/parquet';

export interface HubOptions {
  /** `https://huggingface.co`, or a mirror. */
  hubUrl: string;
  revision: string;
  /** Which of the dataset's configurations, where it has several. */
  config?: string | undefined;
  /** Splits to read; all when absent. Ours are made anew. */
  splits?: readonly string[] | undefined;
  cacheDir: string;
  accessToken?: string | undefined;
  signal: AbortSignal;
  print: (text: string) => void;
}

/**
 * Downloads a dataset's data files into the cache, those that are not there yet, and returns their paths.
 *
 * @throws AgentRlError `SOURCE_UNAVAILABLE` when the hub cannot be reached, has no such dataset or does not show
 *   it, `CONFIG_INVALID` when a configuration or split has to be chosen.
 */
export async function fetchHubDataset(
  dataset: string,
  options: HubOptions,
): Promise<readonly string[]> {
  const entries = await listed(dataset, options);
  const chosen = chooseFiles(dataset, entries, options);
  const files: string[] = [];
  for (const entry of chosen) {
    const name = `${dataset}@${options.revision}`.replaceAll('/', '--');
    const file = join(options.cacheDir, 'hub', name, entry.path);
    if (existsSync(file)) options.print(`${entry.path}: in the cache`);
    else await download(dataset, entry, { ...options, file });
    files.push(file);
  }
  return files;
}

const request = (dataset: string, { hubUrl, revision, accessToken, signal }: HubOptions) => ({
  repo: { type: 'dataset', name: dataset } as const,
  revision,
  hubUrl,
  fetch: (input: string | URL | Request, init?: RequestInit) => fetch(input, { ...init, signal }),
  ...(accessToken === undefined ? {} : { accessToken }),
});

async function listed(dataset: string, options: HubOptions): Promise<readonly ListFileEntry[]> {
  const entries: ListFileEntry[] = [];
  try {
    const listing = listFiles({ ...request(dataset, options), recursive: true });
    for await (const entry of listing) if (entry.type === 'file') entries.push(entry);
  } catch (cause) {
    throw unavailable(dataset, options, cause);
  }
  return entries;
}

const splitOf = ({ path }: ListFileEntry): string => path.split('/').at(-2) ?? '';

function chooseFiles(
  dataset: string,
  entries: readonly ListFileEntry[],
  { config, splits, revision }: HubOptions,
): readonly ListFileEntry[] {
  const invalid = (text: string) => new AgentRlError('CONFIG_INVALID', `${dataset} ${text}`);
  const tables = entries.filter(({ path }) => /\.(parquet|jsonl|ndjson)$/i.test(path));
  const configs = [...new Set(tables.map(({ path }) => path.split('/').at(-3) ?? ''))];
  if (tables.length === 0) {
    throw invalid(
      `has no Parquet or JSONL file at revision ${revision}, only ${entries.length} other files. Choose another --revision, such as ${parquetRevision}, where the hub keeps its own conversion to Parquet.`,
    );
  }
  if (revision !== parquetRevision) return tables;
  if (config === undefined && configs.length > 1) {
    throw invalid(
      `has ${configs.length} configurations: ${configs.join(', ')}. Choose one with --hub-config.`,
    );
  }
  const ofConfig = tables.filter(
    ({ path }) => config === undefined || path.startsWith(`${config}/`),
  );
  if (ofConfig.length === 0)
    throw invalid(`has no configuration "${config ?? ''}". It has: ${configs.join(', ')}.`);
  const known = [...new Set(ofConfig.map(splitOf))];
  const unknown = splits?.find((split) => !known.includes(split));
  if (unknown !== undefined)
    throw invalid(`has no split "${unknown}". It has: ${known.join(', ')}.`);
  return ofConfig.filter((entry) => splits?.includes(splitOf(entry)) ?? true);
}

async function download(
  dataset: string,
  entry: ListFileEntry,
  options: HubOptions & { file: string },
): Promise<void> {
  const { file, print, signal } = options;
  print(`${entry.path}: downloading ${(entry.size / 1e6).toFixed(1)} MB`);
  const partial = `${file}.${process.pid}.partial`;
  try {
    const blob = await downloadFile({ ...request(dataset, options), path: entry.path });
    if (blob === null) throw new Error(`${entry.path} is listed but missing`);
    mkdirSync(dirname(file), { recursive: true });
    await pipeline(Readable.fromWeb(blob.stream()), createWriteStream(partial), { signal });
    renameSync(partial, file);
  } catch (cause) {
    rmSync(partial, { force: true });
    throw unavailable(dataset, options, cause);
  }
}

function unavailable(
  dataset: string,
  { hubUrl, signal }: HubOptions,
  cause: unknown,
): AgentRlError {
  if (signal.aborted) return new AgentRlError('INTERRUPTED', 'Interrupted.', { cause });
  const status = cause instanceof HubApiError ? cause.statusCode : undefined;
  const advice =
    status === 401 || status === 403 || status === 404
      ? 'Check its name; for a private or gated dataset, set HF_TOKEN.'
      : 'Check the connection and --hub-url, then try again: files downloaded so far are kept.';
  return new AgentRlError(
    'SOURCE_UNAVAILABLE',
    `${hubUrl} did not return the dataset ${dataset}: ${status === undefined ? '' : `status ${status}, `}${messageOf(cause)}. ${advice}`,
    { cause },
  );
}
