import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { settingsOfRuns } from '#agent_rl/config/settings-of.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';

/*
 * `every-setting-acts.slow.test.ts` gives other values to all settings of the blocks of shipped run files. Settings of plugins
 * that no shipped file has, such as settings of trackers and web tools, are set in the tests of the plugins: here
 * they are looked for.
 */

const own = 'every-setting-tested.test.ts';

function testWords(): ReadonlySet<string> {
  const folder = join(packageRoot(), 'tests');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && !file.endsWith(own),
  );
  const words = new Set<string>();
  for (const file of files)
    for (const [word] of readFileSync(join(folder, file), 'utf8').matchAll(/[A-Za-z][\w-]*/g))
      words.add(word);
  return words;
}

test('every setting of a plugin is named in a test', () => {
  const page = readFileSync(join(packageRoot(), 'docs', 'reference', 'settings.md'), 'utf8');
  const settings = Array.from(page.matchAll(/^\| `([^`]+)` \|/gm), ([, path = '']) => path);
  const ofBlocks = new Set(settingsOfRuns().map(({ path }) => path));
  const ofPlugins = settings.filter((path) => !ofBlocks.has(path));
  expect(ofPlugins.length).toBeGreaterThan(200);
  const words = testWords();
  const untested = ofPlugins.filter(
    (path) => !words.has(path.replace(/\[\]$/, '').split('.').at(-1) ?? ''),
  );
  expect(untested).toEqual([]);
});
