import { createHash } from 'node:crypto';

/** SHA-256 in hex over the tensors sorted by name, each as little-endian float32 bytes; names are not hashed. */
export function weightsSha256(parameters: ReadonlyMap<string, Float32Array>): string {
  const hash = createHash('sha256');
  for (const name of [...parameters.keys()].toSorted()) {
    const { buffer, byteOffset, byteLength } = parameters.get(name)!;
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest('hex');
}
