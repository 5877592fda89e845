import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const isThisPackage = (folder: string): boolean => {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return false;
  return (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === 'agent_rl';
};

/**
 * The folder that holds this package's package.json. Shipped data and programs are found from it, because
 * the depth of a file differs between the sources and `dist/`.
 */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isThisPackage(folder)) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`No package.json of agent_rl above ${import.meta.url}.`);
    folder = parent;
  }
  return folder;
}

/** The version of this package. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}
