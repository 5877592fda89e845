import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { writing } from './output-unwritable.ts';

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
  const partial = partialOf(folder);
  writing(folder, () => {
    rmSync(partial, { recursive: true, force: true });
    mkdirSync(partial, { recursive: true });
  });
  const result = await fill(partial).catch((error: unknown) => {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  });
  writing(folder, () => replace(folder, partial));
  return result;
}

function replace(folder: string, partial: string): void {
  if (!existsSync(folder)) return renameSync(partial, folder);
  const old = `${partial}.old`;
  renameSync(folder, old);
  renameSync(partial, folder);
  rmSync(old, { recursive: true });
}
