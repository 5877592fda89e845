import type { FileHandle } from 'node:fs/promises';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { widenBFloat16, widenFloat16 } from './half-precision.ts';
import type { StoredDtype } from './safetensors-header.ts';

/** What is read, widened or narrowed at once. */
export const pieceBytes = 2 ** 26;

/** @returns how many bytes came: fewer than requested when the file ends. One read call moves at most 2 GiB. */
export async function readInto(
  handle: FileHandle,
  position: number,
  bytes: Uint8Array,
): Promise<number> {
  let filled = 0;
  while (filled < bytes.length) {
    const most = Math.min(bytes.length - filled, 2 ** 30);
    const { bytesRead } = await handle.read(bytes, filled, most, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/**
 * `count` floats from a place in a file on, widened to float32; undefined when the file ends before they do.
 *
 * What is stored narrower is widened piece by piece, so that no second copy of a tensor is ever held.
 */
export async function readFloatsAt(
  handle: FileHandle,
  position: number,
  count: number,
  dtype: StoredDtype,
): Promise<Float32Array | undefined> {
  const values = new Float32Array(count);
  if (dtype === 'F32') {
    const filled = await readInto(handle, position, new Uint8Array(values.buffer));
    return filled === values.byteLength ? values : undefined;
  }
  const widen = dtype === 'F16' ? widenFloat16 : widenBFloat16;
  const piece = new Uint16Array(Math.min(count, pieceBytes / 2));
  for (let at = 0; at < count; at += piece.length) {
    const halves = piece.subarray(0, Math.min(piece.length, count - at));
    const bytes = new Uint8Array(halves.buffer, 0, halves.byteLength);
    if ((await readInto(handle, position + 2 * at, bytes)) !== bytes.length) return undefined;
    widen(halves, values.subarray(at, at + halves.length));
  }
  return values;
}

/** Where the first value is that is not finite. */
export function placeNotFinite(values: Float32Array): number | undefined {
  let place = 0;
  // Not `findIndex`, which takes a minute for a billion values.
  while (place < values.length && Number.isFinite(values[place])) place += 1;
  return place === values.length ? undefined : place;
}

/** One weight that is not a number makes every output NaN. @throws AgentRlError `MODEL_INVALID` */
export function requireFinite(folder: string, name: string, values: Float32Array): void {
  const place = placeNotFinite(values);
  if (place === undefined) return;
  throw new AgentRlError(
    'MODEL_INVALID',
    `"${name}" in ${folder} holds ${values[place]} at place ${place}; weights must be finite. The file is damaged or its training diverged: use another checkpoint.`,
  );
}
