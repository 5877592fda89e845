import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

import { AgentRlError } from '../../../agent_rl/core/errors.ts';

/** A file of the hub, and what its bytes must hash to. */
export interface Blob {
  name: string;
  url: string;
  size: number;
  /** SHA-256 of what Git LFS keeps, or else the id Git gives the file, a SHA-1. */
  checksum: string;
}

export interface BlobOptions {
  accessToken?: string | undefined;
  signal: AbortSignal;
  /** Told how many bytes are there. */
  onBytes: (bytes: number) => void;
}

/** The hub answered, and not with the file. */
export class HubStatusError extends Error {
  constructor(readonly statusCode: number) {
    super(`status ${statusCode}`);
  }
}

interface Part {
  handle: FileHandle;
  hash: Hash;
  length: number;
}

/**
 * Downloads a file to `to` by way of `<to>.incomplete`, which is kept when the connection is lost, and resumed:
 * at once as long as each attempt brings more, and otherwise by the next request. (The library's own download starts
 * over each time and compares nothing.)
 *
 * @throws AgentRlError `MODEL_INVALID` when what came is not what the hub lists; it is deleted then.
 * @throws HubStatusError, or what the connection failed with.
 */
export async function downloadBlob(blob: Blob, to: string, options: BlobOptions): Promise<void> {
  const partial = `${to}.incomplete`;
  await mkdir(dirname(to), { recursive: true });
  let reached = 0;
  for (;;) {
    const part = await openPart(partial, blob, options);
    const atStart = part.length;
    try {
      if (part.length < blob.size) await fetchRest(part, blob, options);
      checkSum(part, blob);
    } catch (failure) {
      await part.handle.close();
      if (AgentRlError.is(failure)) await rm(partial, { force: true });
      reached = Math.max(reached, atStart);
      if (AgentRlError.is(failure) || options.signal.aborted || part.length <= reached)
        throw failure;
      reached = part.length;
      continue;
    }
    await part.handle.close();
    await rename(partial, to);
    return;
  }
}

function checkSum({ hash }: Part, { name, url, checksum }: Blob): void {
  const found = hash.digest('hex');
  if (found === checksum) return;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${name} from ${url} has the checksum ${found}, expected ${checksum}. It was damaged or changed in transit and has been deleted. Try again.`,
  );
}

async function openPart(partial: string, blob: Blob, { onBytes }: BlobOptions): Promise<Part> {
  const present = (await stat(partial).catch(() => undefined))?.size ?? 0;
  const hash = hashOf(blob);
  if (present === 0 || present > blob.size) {
    return { handle: await open(partial, 'w'), hash, length: 0 };
  }
  for await (const chunk of createReadStream(partial)) hash.update(chunk as Buffer);
  onBytes(present);
  return { handle: await open(partial, 'a'), hash, length: present };
}

/** Git's own id is the hash of the content behind a line that says how long it is. */
const hashOf = ({ checksum, size }: Blob): Hash =>
  checksum.length === 64 ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`);

async function fetchRest(part: Part, blob: Blob, options: BlobOptions): Promise<void> {
  const { url, size, name } = blob;
  const { accessToken, signal, onBytes } = options;
  // Sizes and ranges are of the file itself.
  const headers = new Headers({ 'accept-encoding': 'identity' });
  if (part.length > 0) headers.set('range', `bytes=${part.length}-`);
  if (accessToken !== undefined) headers.set('authorization', `Bearer ${accessToken}`);
  const response = await fetch(url, { signal, headers });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new HubStatusError(response.status);
  }
  const range = response.headers.get('content-range') ?? '';
  if (part.length > 0 && !range.startsWith(`bytes ${part.length}-`)) {
    // The server sends a file only whole.
    await part.handle.truncate(0);
    part.hash = hashOf(blob);
    part.length = 0;
  }
  for await (const chunk of response.body) {
    if (part.length + chunk.length > size) {
      throw new AgentRlError(
        'MODEL_INVALID',
        `${name} from ${url} is longer than the ${size} bytes that the hub lists, and has been deleted. Try again.`,
      );
    }
    await part.handle.writeFile(chunk);
    part.hash.update(chunk);
    part.length += chunk.length;
    onBytes(part.length);
  }
  if (part.length < size) throw new Error(`${name} ended after ${part.length} of ${size} bytes`);
}
