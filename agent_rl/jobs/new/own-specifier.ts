import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

import { isRecord } from '../../core/is-record.ts';

/**
 * What a package.json in `project` names to get the copy of this package that is running: the folder of a checkout, the
 * tarball or repository it was installed from, or its version.
 *
 * @param root the folder of this package's package.json
 */
export function ownSpecifier(root: string, project: string): string {
  const modules = dirname(root);
  if (basename(modules) !== 'node_modules') return fileSpecifier(root, project);
  const name = basename(root);
  const installed = entryOf(join(modules, '.package-lock.json'), `node_modules/${name}`);
  const resolved = installed['resolved'];
  if (typeof resolved !== 'string' || isRegistrys(resolved)) return versionOf(root);
  if (!resolved.startsWith('file:')) return resolved;
  return fileSpecifier(resolve(dirname(modules), resolved.slice('file:'.length)), project);
}

/** The same for what a user wrote: a path from the working directory, or whatever else npm takes. */
export const givenSpecifier = (given: string, project: string): string =>
  existsSync(given) ? fileSpecifier(resolve(given), project) : given;

/** With forward slashes on every system, as npm writes it. */
const fileSpecifier = (target: string, project: string): string =>
  `file:${relative(project, target).split(sep).join('/')}`;

/** Whether an address is a registry's, which keeps tarballs below `/-/`. */
const isRegistrys = (resolved: string): boolean => /^https?:.*\/-\//.test(resolved);

/** What npm noted about an installed package; nothing where it was installed otherwise. */
function entryOf(lockFile: string, place: string): Record<string, unknown> {
  const lock = jsonOf(lockFile);
  const packages = lock['packages'];
  const entry = isRecord(packages) ? packages[place] : undefined;
  return isRecord(entry) ? entry : {};
}

const versionOf = (root: string): string =>
  `^${String(jsonOf(join(root, 'package.json'))['version'])}`;

function jsonOf(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
