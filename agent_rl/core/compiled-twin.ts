import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { packageRoot } from './package-root.ts';

/**
 * The compiled twin of a source file of this package: a thread runs JavaScript only, while tests run from sources.
 * Anything that is not a source file of this package is left as it is.
 */
export function compiledTwin(url: URL): URL {
  if (!url.pathname.endsWith('.ts')) return url;
  const root = packageRoot();
  const path = relative(root, fileURLToPath(url));
  const twin = resolve(root, 'dist', path.replace(/\.ts$/, '.js'));
  return existsSync(twin) ? pathToFileURL(twin) : url;
}
