import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll } from '@jest/globals';

/** A folder that is deleted after the tests of the file. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-rl-')));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new, empty folder below one. */
export const freshFolder = (below: string): string => mkdtempSync(join(below, 'fresh-'));

/** Writes a file below a folder and returns its path. */
export function writeBelow(folder: string, path: string, text: string | Uint8Array): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}
