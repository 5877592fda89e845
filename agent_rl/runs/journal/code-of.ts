import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { packageVersion } from '../../core/package-root.ts';

export const sha256 = (text: string | Buffer): string =>
  createHash('sha256').update(text).digest('hex');

/**
 * Hash of the package's version, the files of plugins and what these import from files. Packages, and what a program passes as
 * a value, are not part of it.
 */
export function codeOf(plugins: readonly string[]): string {
  const hashes = new Map<string, string>();
  for (const path of plugins) if (path.startsWith('/')) addFile(path, hashes);
  return sha256(JSON.stringify([packageVersion(), ...hashes.values()]));
}

const relativeImport = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g;

function addFile(path: string, hashes: Map<string, string>): void {
  // As plugins are loaded: `./helper.js` may name `./helper.ts`.
  const file = existsSync(path) ? path : path.replace(/\.js$/, '.ts');
  if (hashes.has(file) || !existsSync(file)) return;
  const text = readFileSync(file, 'utf8');
  hashes.set(file, sha256(text));
  for (const [, to = ''] of text.matchAll(relativeImport))
    addFile(resolve(dirname(file), to), hashes);
}
