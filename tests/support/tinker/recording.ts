import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Recording } from './exchanges.ts';

/** What SkyRL's server said; written by `tests/real/tinker.test.ts`. */
export const recording = (): Recording =>
  JSON.parse(
    readFileSync(join(packageRoot(), 'tests', 'fixtures', 'tinker', 'skyrl.json'), 'utf8'),
  ) as Recording;
