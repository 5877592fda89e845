import { createHash } from 'node:crypto';

/** Node's hashes take less than 2 GiB at a time. */
const pieceBytes = 2 ** 30;

/**
 * SHA-256 in hex over the tensors sorted by name, each as its bytes: little-endian float32, or bytes themselves. Names
 * are not hashed.
 */
export function weightsSha256(parameters: ReadonlyMap<string, Float32Array | Uint8Array>): string {
  const hash = createHash('sha256');
  for (const name of [...parameters.keys()].toSorted()) {
    const { buffer, byteOffset, byteLength } = parameters.get(name)!;
    for (let at = 0; at < byteLength; at += pieceBytes) {
      hash.update(new Uint8Array(buffer, byteOffset + at, Math.min(pieceBytes, byteLength - at)));
    }
  }
  return hash.digest('hex');
}
