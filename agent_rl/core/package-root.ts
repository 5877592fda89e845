import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const isThisPackage = (folder: string): boolean => {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return false;
  return (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === 'agent_rl';
};

let root: string | undefined;

/**
 * The folder that holds this package's package.json. Shipped data and programs are found from it, because
 * the depth of a file differs between the sources and `dist/`.
 */
export const packageRoot = (): string => (root ??= findRoot());

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isThisPackage(folder)) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new Error(
        `The package.json of agent_rl was not found in any folder above ${import.meta.url}.`,
      );
    folder = parent;
  }
  return folder;
}

/** The version of this package. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return String((JSON.parse(text) as { version?: unknown }).version);
}

/** Where something of this name may be: as the user has it, and as the package ships it. */
export const placesOf = (name: string): readonly string[] =>
  isAbsolute(name) ? [name] : [...new Set([resolve(name), join(packageRoot(), name)])];

/**
 * A file or folder by the name a user gives it: relative to a folder, the working directory unless another is given;
 * where nothing is there, among what the package ships.
 */
export function ownOrShipped(
  name: string,
  folder = process.cwd(),
): { path: string; shipped: boolean } {
  const own = { path: resolve(folder, name), shipped: false };
  if (isAbsolute(name) || normalize(name).startsWith('..') || existsSync(own.path)) return own;
  const path = join(packageRoot(), name);
  return existsSync(path) ? { path, shipped: true } : own;
}

/** A name as the user gave it, or where the package has it if only the package does. */
export function namedOrShipped(name: string): string {
  const { path, shipped } = ownOrShipped(name);
  return shipped ? path : name;
}
