import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../core/package-root.ts';

/** In the order they are loaded. */
const modules = [
  '__init__',
  'values',
  'program',
  'channel',
  'shared_objects',
  'solution',
  'asserts',
  'session',
] as const;

export const harnessFolder = (): string => join(packageRoot(), 'agent_rl', 'sandbox', 'harness');

/** The Python modules that run inside every sandbox: name and source. */
export const readHarness = (folder = harnessFolder()): (readonly [string, string])[] =>
  modules.map((name) => [name, readFileSync(join(folder, `${name}.py`), 'utf8')]);
