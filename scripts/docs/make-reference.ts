import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { referencePages } from './reference-pages.ts';

/** Writes `docs/reference`: `npm run docs`. */
const folder = join(packageRoot(), 'docs', 'reference');
await mkdir(folder, { recursive: true });
for (const [name, text] of Object.entries(referencePages())) {
  await writeFile(join(folder, name), text);
  process.stdout.write(`docs/reference/${name}: ${text.length} characters\n`);
}
