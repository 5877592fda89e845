import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { entries as sources } from '#scripts/docs/api-page.ts';
import { publicExports } from '#scripts/docs/public-exports.ts';
import { type Declaration, exportsOf, namedBy } from '../support/declarations.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const dist = join(packageRoot(), 'dist');

const entry = {
  agent_rl: join(dist, 'agent_rl', 'index.d.ts'),
  'agent_rl/plugin': join(dist, 'agent_rl', 'plugin.d.ts'),
  'agent_rl/contracts': join(dist, 'tests', 'contracts', 'index.d.ts'),
};

/** The contracts of plugins: a class that keeps one has to name what its methods take and return. */
const contracts =
  `Tool Environment MultiAgentEnvironment Policy RewardManager TaskGenerator Tracker ToolCallFormat
  Generator Learner`.split(/\s+/);

/**
 * What the signatures that a file exports name and no entry exports, with who names it. A type that is reached only
 * through another need not be exported: `Parameters<Generator['generate']>[0]` names one.
 *
 * @param chosen the exports whose signatures count, by their names
 */
function hidden(file: string, chosen: (name: string) => boolean = () => true): string[] {
  const open = new Set(
    [file, ...Object.values(entry)].flatMap((one) => Array.from(exportsOf(one).values())),
  );
  return [...exportsOf(file)]
    .filter(([name]) => chosen(name))
    .flatMap(([, declaration]) =>
      namedBy(declaration)
        .filter((named) => !open.has(named))
        .map((named) => `${nameOf(named)} of ${nameOf(declaration)}`),
    );
}

/** Packages whose types the declarations of a file name, however deep, each with the file that names it. */
function packagesNamedBy(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const names = readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g);
  return [...names].flatMap(([, name = '']) =>
    name.startsWith('.')
      ? packagesNamedBy(join(dirname(file), name.replace(/\.[jt]s$/, '.d.ts')), seen)
      : [`${name} of ${file.slice(dist.length + 1)}`],
  );
}

const nameOf = (declaration: Declaration): string => declaration.slice(dist.length + 1);

test.each([
  ['agent_rl', 60],
  ['agent_rl/plugin', 110],
] as const)('%s exports at most %d names', (name, most) => {
  const names = publicExports(sources[name]).map((one) => one.name);
  expect(names.length).toBeLessThanOrEqual(most);
  expect(names.filter((one, index) => names.indexOf(one) !== index)).toEqual([]);
});

describe('The exported types', () => {
  test('a caller of its functions can name all types', () => {
    const functions = publicExports(sources.agent_rl).filter(({ kind }) => kind === 'function');
    const names = new Set(functions.map(({ name }) => name));
    expect(names.size).toBeGreaterThan(5);
    expect(hidden(entry.agent_rl, (name) => names.has(name))).toEqual([]);
  });

  test('a plugin author can name all types', () => {
    expect([...exportsOf(entry['agent_rl/plugin']).keys()]).toEqual(
      expect.arrayContaining(contracts),
    );
    expect(hidden(entry['agent_rl/plugin'], (name) => contracts.includes(name))).toEqual([]);
  });

  test('a tester of plugins can name all types', () => {
    expect(hidden(entry['agent_rl/contracts'])).toEqual([]);
  });

  test.each(Object.entries(entry).slice(0, 2))(
    'the entry %s needs no types of TensorFlow.js or ONNX Runtime',
    (_, file) => {
      const named = packagesNamedBy(file);
      expect(named.length).toBeGreaterThan(5);
      expect(named.filter((name) => /tensorflow|onnx/.test(name))).toEqual([]);
    },
  );

  test('a missing type is found through imports, lists, renaming and stars', () => {
    writeBelow(
      folder,
      'inner.d.ts',
      'export interface Seen { x: Hidden }\n/** Of Seen. */\nexport interface Hidden {}\ninterface Inside {}\nexport declare function use(one: Hidden,\n  two: Inside): void;\n',
    );
    writeBelow(
      folder,
      'middle.d.ts',
      "import { type Hidden as Other } from './inner.ts';\ndeclare let Tool: { other: Other };\nexport { Tool };\n",
    );
    const index = writeBelow(
      folder,
      'index.d.ts',
      "export { type Seen, use as used } from './inner.ts';\nexport * from './middle.ts';\n",
    );
    const bare = (text: string): string => text.replaceAll(/\S+#/g, '');
    expect(hidden(index).map(bare)).toEqual([
      'Hidden of Seen',
      'Hidden of use',
      'Inside of use',
      'Hidden of Tool',
    ]);
  });
});
