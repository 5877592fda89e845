import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { AgentRlError, messageOf, nodeCodeOf } from '../core/errors.ts';

/** Where something is written before it is whole. Beside the target, since a rename cannot cross disks. */
const partialOf = (path: string): string => `${path}.${process.pid}.partial`;

/**
 * Writes a file so that it is either the old one or the whole new one, whatever happens meanwhile.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function writeFileAtomic(file: string, data: string | Uint8Array): void {
  const partial = partialOf(file);
  writing(file, () => {
    try {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(partial, data, { flush: true });
      renameSync(partial, file);
    } catch (failure) {
      rmSync(partial, { force: true });
      throw failure;
    }
  });
}

/**
 * Fills a temporary folder and renames it into place when it is whole. An old folder of that name is replaced.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE` when the folder cannot be made or renamed; what `fill` throws as it is.
 */
export async function writeFolderAtomic<Result>(
  folder: string,
  fill: (partial: string) => Promise<Result>,
): Promise<Result> {
  const { partial, result } = await filled(folder, fill);
  writing(folder, () => replace(folder, partial));
  return result;
}

/**
 * As `writeFolderAtomic`, for a folder that is not there or empty.
 *
 * @returns undefined when another process wrote it meanwhile: its folder stays, and what was written here is deleted
 */
export async function writeFolderOnce<Result>(
  folder: string,
  fill: (partial: string) => Promise<Result>,
): Promise<Result | undefined> {
  const { partial, result } = await filled(folder, fill);
  return writing(folder, () => {
    try {
      // Replaces an empty folder and no other.
      renameSync(partial, folder);
      return result;
    } catch (failure) {
      rmSync(partial, { recursive: true, force: true });
      if (['ENOTEMPTY', 'EEXIST'].includes(nodeCodeOf(failure))) return undefined;
      throw failure;
    }
  });
}

async function filled<Result>(folder: string, fill: (partial: string) => Promise<Result>) {
  const partial = partialOf(folder);
  writing(folder, () => {
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { recursive: true });
  });
  const result = await fill(partial).catch((error: unknown) => {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  });
  return { partial, result };
}

function replace(folder: string, partial: string): void {
  if (!existsSync(folder)) return renameSync(partial, folder);
  const old = `${partial}.old`;
  renameSync(folder, old);
  renameSync(partial, folder);
  rmSync(old, { recursive: true });
}

/** A path, or the nearest folder or file above it that is there. */
export function nearestExisting(path: string): string {
  let place = path;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  return place;
}

const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space.',
  EDQUOT: 'Your disk quota is used up: free some space.',
  EACCES: 'Permission is denied: choose another folder (for runs: --output).',
  EPERM: 'Permission is denied: choose another folder (for runs: --output).',
  EROFS: 'The file system is read-only: choose another folder (for runs: --output).',
  ENOTDIR: 'Part of the path is a file: choose another folder (for runs: --output).',
  ENOENT: 'The folder is gone. Was it deleted during the run?',
};

/** The error for output that cannot be written, with the remedy for its cause. */
export function outputUnwritable(path: string, cause: unknown): AgentRlError {
  const remedy = remedies[nodeCodeOf(cause)] ?? 'Choose another folder (for runs: --output).';
  return new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `Cannot write ${path}: ${messageOf(cause)}. ${remedy}`,
    { cause },
  );
}

/** The result of an action that writes to a path. @throws AgentRlError `OUTPUT_UNWRITABLE` for whatever it throws */
export function writing<Result>(path: string, action: () => Result): Result {
  try {
    return action();
  } catch (cause) {
    throw outputUnwritable(path, cause);
  }
}

/** As `writing`, for an action that makes something; false when it is there already. */
export const madeNew = (path: string, make: () => unknown): boolean =>
  writing(path, () => {
    try {
      make();
      return true;
    } catch (cause) {
      if (nodeCodeOf(cause) === 'EEXIST') return false;
      throw cause;
    }
  });
