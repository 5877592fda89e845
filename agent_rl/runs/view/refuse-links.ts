import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { AgentRlError } from '../../core/errors.ts';

/**
 * Refuses a run's folder that holds what is neither a file nor a folder. A symbolic link leads out of the run: the
 * maker of the folder
 * would have the viewer show, and an export hold, whatever file it names.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID`
 */
export function refuseLinks(folder: string): void {
  const other = entriesIn(folder).find((entry) => !entry.isFile() && !entry.isDirectory());
  if (other === undefined) return;
  const what = other.isSymbolicLink() ? 'a symbolic link' : 'neither a file nor a folder';
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${join(other.parentPath, other.name)} is ${what}, which the viewer refuses in a run folder. Replace it with the file itself, or remove it.`,
  );
}

/** Entries of a folder and of those below it. A run at work removes some meanwhile. */
function entriesIn(folder: string): Dirent[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
  const folders = entries.filter((entry) => entry.isDirectory());
  return entries.concat(folders.flatMap(({ name }) => entriesIn(join(folder, name))));
}
