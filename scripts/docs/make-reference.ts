import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { referencePages } from './reference-pages.ts';

/** Writes the pages of `docs` that are made from the code: `npm run docs`. */
const folder = join(packageRoot(), 'docs');
for (const [name, text] of Object.entries(referencePages())) {
  await writeFile(join(folder, name), text);
  process.stdout.write(`docs/${name}: ${text.length} characters\n`);
}
