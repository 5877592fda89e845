import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

import config from './jest.config.js';

/**
 * What `npm test` runs: the unit tests in a few groups, each of which loads the modules once, where `jest.config.js`
 * loads them for each file. A group is a written file that imports its test files. `npm test -- tests/PATH` runs
 * without groups.
 */
const named = process.argv.slice(2).some((argument) => /^(\.\/)?tests\//.test(argument));

const folder = '.cache/test-groups';
const files = ['unit', 'property', 'architecture']
  .flatMap((name) =>
    readdirSync(`tests/${name}`, { recursive: true, encoding: 'utf8' }).map(
      (path) => `tests/${name}/${path}`,
    ),
  )
  .filter((path) => path.endsWith('.test.ts') && !path.endsWith('.slow.test.ts'))
  .toSorted((a, b) => (a < b ? -1 : 1));
const size = Math.ceil(files.length / Math.max(8, 4 * availableParallelism()));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (let start = 0; start < files.length; start += size) {
  const imports = files
    .slice(start, start + size)
    .map((file) => `await inOneBlock('${file}', () => import('../../${file}'));`);
  const lines = ["import { inOneBlock } from '../../tests/support/in-one-block.mjs';", ...imports];
  const name = String(start / size).padStart(2, '0');
  writeFileSync(`${folder}/${name}.test.mjs`, `${lines.join('\n')}\n`);
}

const [unit, ...others] = config.projects.filter(
  ({ displayName }) => !displayName.endsWith('-slow'),
);
const grouped = {
  ...config,
  projects: [
    {
      ...unit,
      roots: [...unit.roots, `<rootDir>/${folder}`],
      testMatch: [`<rootDir>/${folder}/*.test.mjs`],
      modulePathIgnorePatterns: unit.modulePathIgnorePatterns.filter(
        (one) => !one.includes('.cache'),
      ),
    },
    ...others,
  ],
};

export default named ? config : grouped;
