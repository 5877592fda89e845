import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';

import {
  getHFHubCachePath,
  HubApiError,
  listFiles,
  type ListFileEntry,
  modelInfo,
} from '@huggingface/hub';

import { AgentRlError, messageOf } from '../../../agent_rl/core/errors.ts';
import { withProgress } from '../../../agent_rl/telemetry/index.ts';
import { lockRun } from '../../../agent_rl/telemetry/run-lock.ts';
import { type Blob, downloadBlob, HubStatusError } from './download-blob.ts';
import { commitPattern, HubCache, type HubModel, shardsOf } from './hub-cache.ts';

export interface HubOptions {
  /** Variables of the process: `HF_TOKEN`, `HF_ENDPOINT`, `HF_HUB_OFFLINE`. */
  environment: NodeJS.ProcessEnv;
  signal: AbortSignal;
  print: (text: string) => void;
  /** Shows no progress. */
  quiet?: boolean | undefined;
  /** `HF_HUB_CACHE`, or the place below `HF_HOME` or the home folder that the hub's own tools use. */
  cacheDir?: string;
}

interface HubRequest extends HubOptions {
  model: HubModel;
  hubUrl: string;
  accessToken: string | undefined;
  cache: HubCache;
}

const smallFiles = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.jinja',
];
const singleFile = 'model.safetensors';
const indexFile = 'model.safetensors.index.json';

/**
 * The folder of a model of the hub: from the local cache where it is whole, or else downloaded into it.
 *
 * @throws AgentRlError `SOURCE_UNAVAILABLE` when the hub cannot be reached or does not give it, `MODEL_INVALID` when it
 * holds no model or what came is damaged, `INTERRUPTED`
 */
export async function fetchHubModel(model: HubModel, options: HubOptions): Promise<string> {
  const { environment, print, cacheDir = getHFHubCachePath() } = options;
  const cache = new HubCache(cacheDir, model);
  const cached = cache.wholeSnapshot();
  if (cached !== undefined) {
    print(`Using model ${model.name} (${model.revision}) from the cache: ${cached}`);
    return cached;
  }
  const hubUrl = (environment['HF_ENDPOINT'] ?? 'https://huggingface.co').replace(/\/+$/, '');
  const request = { ...options, model, hubUrl, accessToken: tokenOf(environment), cache };
  if (isOn(environment['HF_HUB_OFFLINE'])) {
    throw new AgentRlError(
      'SOURCE_UNAVAILABLE',
      `${model.name} (${model.revision}) is incomplete in ${cache.folder}, and HF_HUB_OFFLINE forbids downloads. Unset HF_HUB_OFFLINE, or give the path of a model folder.`,
    );
  }
  try {
    return await locked(request, () => download(request));
  } catch (cause) {
    throw unavailable(request, cause);
  }
}

/** The folder of a model of the hub that is whole in the cache. */
export const cachedHubModel = (
  model: HubModel,
  cacheDir = getHFHubCachePath(),
): string | undefined => new HubCache(cacheDir, model).wholeSnapshot();

async function download(request: HubRequest): Promise<string> {
  const { model, cache, print } = request;
  const commit = await commitOf(request);
  const listed = await listing(request, commit);
  const folder = cache.snapshot(commit);
  print(
    `Downloading model ${model.name} (${model.revision}, commit ${commit.slice(0, 12)}) to ${folder}`,
  );
  const get = async (name: string): Promise<void> => {
    const entry = listed.get(name);
    if (entry === undefined) throw lacking(request, name, listed);
    if (!existsSync(join(folder, name))) await fetchFile(request, commit, entry);
  };
  if (!listed.has('config.json')) throw lacking(request, 'config.json', listed);
  if (!listed.has(singleFile) && !listed.has(indexFile)) throw lacking(request, singleFile, listed);
  for (const name of smallFiles.filter((file) => listed.has(file))) await get(name);
  if (listed.has(singleFile)) await get(singleFile);
  else {
    await get(indexFile);
    for (const shard of shardsOf(join(folder, indexFile))) await get(shard);
  }
  await cache.setRef(commit);
  return folder;
}

const credentials = ({ hubUrl, accessToken, signal }: HubRequest) => ({
  hubUrl,
  fetch: (input: string | URL | Request, init?: RequestInit) => fetch(input, { ...init, signal }),
  accessToken,
});

async function commitOf(request: HubRequest): Promise<string> {
  const { name, revision } = request.model;
  const asked = { name, revision, additionalFields: ['sha' as const] };
  const { sha } = await modelInfo({ ...credentials(request), ...asked });
  if (commitPattern.test(sha)) return sha;
  throw new Error(`the hub has no commit for ${revision}`);
}

type Listing = ReadonlyMap<string, ListFileEntry>;

async function listing(request: HubRequest, revision: string): Promise<Listing> {
  const repo = { type: 'model', name: request.model.name } as const;
  const files = new Map<string, ListFileEntry>();
  for await (const entry of listFiles({ ...credentials(request), repo, revision })) {
    if (entry.type === 'file' && /^\w[\w.-]*$/.test(entry.path)) files.set(entry.path, entry);
  }
  return files;
}

const megabytes = (bytes: number): number => Math.ceil(bytes / 1e6);

async function showingProgress(
  { name, size }: Blob,
  quiet: boolean | undefined,
  action: (onBytes: (bytes: number) => void) => Promise<void>,
): Promise<void> {
  if (size < 1e7) return action(() => undefined);
  return withProgress({ label: `${name} (MB)`, total: megabytes(size), quiet }, (bar) => {
    let shown = -1;
    return action((bytes) => {
      const twentieth = Math.floor((20 * bytes) / size);
      if (twentieth === shown) return;
      shown = twentieth;
      bar.update(megabytes(bytes));
    });
  });
}

async function fetchFile(request: HubRequest, commit: string, entry: ListFileEntry): Promise<void> {
  const { cache, model, hubUrl, accessToken, signal, quiet } = request;
  const { path: name } = entry;
  const checksum = entry.lfs?.oid ?? entry.oid ?? '';
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(checksum))
    throw new Error(`the hub lists no checksum for ${name}`);
  const blob: Blob = {
    name,
    url: `${hubUrl}/${model.name}/resolve/${commit}/${encodeURIComponent(name)}`,
    size: entry.lfs?.size ?? entry.size,
    checksum,
  };
  if (!existsSync(cache.blob(checksum))) {
    await showingProgress(blob, quiet, (onBytes) =>
      downloadBlob(blob, cache.blob(checksum), { signal, accessToken, onBytes }),
    );
  }
  await cache.place(checksum, commit, name);
}

/** One process at a time writes a model's part of the cache. */
async function locked<Result>({ cache, model }: HubRequest, action: () => Promise<Result>) {
  mkdirSync(cache.folder, { recursive: true });
  let lock;
  try {
    lock = lockRun(cache.folder);
  } catch (cause) {
    throw new AgentRlError(
      'SOURCE_UNAVAILABLE',
      `${model.name} is being downloaded by another process. Try again when it has finished. (${messageOf(cause)})`,
      { cause },
    );
  }
  try {
    return await action();
  } finally {
    lock.release();
  }
}

/** @throws AgentRlError `SOURCE_UNAVAILABLE` for what cannot be a token; it is not shown. */
function tokenOf(environment: NodeJS.ProcessEnv): string | undefined {
  const token = environment['HF_TOKEN']?.trim();
  if (token === undefined || token === '') return undefined;
  if (/^hf_[\w.-]+$/.test(token)) return token;
  throw new AgentRlError(
    'SOURCE_UNAVAILABLE',
    'HF_TOKEN is not an access token of the hub: access tokens begin with hf_. Correct HF_TOKEN, or unset it.',
  );
}

const isOn = (value: string | undefined): boolean => /^(1|true|yes|on)$/i.test(value ?? '');

function lacking({ model }: HubRequest, name: string, listed: Listing): AgentRlError {
  const shown = [...listed.keys()].slice(0, 20).join(', ');
  const pickled = [...listed.keys()].some((file) => /^pytorch_model.*\.bin/.test(file));
  const instead = pickled
    ? ' Weights as pytorch_model.bin work only from a local folder: download them and give the path of the folder.'
    : '';
  return new AgentRlError(
    'MODEL_INVALID',
    `${model.name} (${model.revision}) on the hub has no ${name}; it has: ${shown}. A model needs config.json, a tokenizer and weights as safetensors.${instead}`,
  );
}

function unavailable(request: HubRequest, cause: unknown): AgentRlError {
  const { model, hubUrl, signal } = request;
  if (signal.aborted) return new AgentRlError('INTERRUPTED', 'Interrupted.', { cause });
  if (AgentRlError.is(cause)) return cause;
  return new AgentRlError(
    'SOURCE_UNAVAILABLE',
    `${hubUrl} did not return the model ${model.name} (${model.revision}): ${reasonOf(request, cause)}`,
    { cause },
  );
}

function reasonOf({ accessToken, model, hubUrl }: HubRequest, cause: unknown): string {
  const isStatus = cause instanceof HubApiError || cause instanceof HubStatusError;
  const found = isStatus ? `status ${cause.statusCode}` : connectionFailure(cause);
  const remedies: Readonly<Record<string, string>> = {
    'status 401':
      accessToken === undefined
        ? 'The model does not exist or is private: check the name, or set HF_TOKEN to a token with access to it.'
        : 'The hub does not accept the token in HF_TOKEN, or the token has no access to the model.',
    'status 403': `The model's owner grants access on request: accept the conditions on ${hubUrl}/${model.name} and set HF_TOKEN.`,
    'status 404': 'Check the name of the model and model.revision.',
  };
  const resume =
    'The files downloaded so far are kept: try again to resume, or give the path of a model folder.';
  return `${found}. ${remedies[found] ?? resume}`;
}

/** `fetch` says what happened only in the cause of its error. */
function connectionFailure(thrown: unknown): string {
  const inner = isNativeError(thrown) ? thrown.cause : undefined;
  return inner === undefined ? messageOf(thrown) : `${messageOf(thrown)}, ${messageOf(inner)}`;
}
