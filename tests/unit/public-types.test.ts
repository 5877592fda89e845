import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { type Declaration, exportsOf, namedBy } from '../support/declarations.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const dist = join(packageRoot(), 'dist');

/** Names nobody has to write: what they stand for is seen through them. */
const seenThrough = new Set([
  // Keys of properties.
  'brand',
  // Schemas, of which only the static type is part of a signature.
  'CalculatorParameters',
  'CodeExecParameters',
  'CodeExecSettings',
  'MixedSettings',
  'OpenPageParameters',
  'OpenPageSettings',
  'SearchParameters',
  'ConfigSchema',
  // What a tool's own `open` gives its instances.
  'SharedHttp',
  'SharedReader',
  'SharedSearch',
  // Helpers of exported types.
  'ChosenOf',
  'IsMany',
  'JudgingPart',
  'KindName',
  'Kinds',
  'SpecOf',
  'Frozen',
  'Json',
  'Member',
  'Names',
  'tokenUses',
  'sourceFormats',
  'splitBys',
]);

/** What the signatures a file exports name and neither it nor the package's root exports, with who names it. */
function hidden(file: string, root = file): string[] {
  const exported = [...exportsOf(file).values()];
  const open = new Set<Declaration>([...exported, ...exportsOf(root).values()]);
  return exported.flatMap((declaration) =>
    namedBy(declaration)
      .filter((named) => !open.has(named) && !seenThrough.has(named.split('#')[1] ?? ''))
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

describe('The package exports every type that its exported signatures name', () => {
  test.each(['agent_rl/index.d.ts', 'tests/contracts/index.d.ts'])('%s', (name) => {
    expect(hidden(join(dist, name), join(dist, 'agent_rl/index.d.ts'))).toEqual([]);
  });

  test('and none of them needs the types of TensorFlow.js or ONNX Runtime', () => {
    const named = packagesNamedBy(join(dist, 'agent_rl/index.d.ts'));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => /tensorflow|onnx/.test(name))).toEqual([]);
  });

  test('and what is missing is found: through imports, lists, renaming and stars', () => {
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

  test('and a learner to train with is among its values', () => {
    expect([...exportsOf(join(dist, 'agent_rl/index.d.ts')).keys()]).toEqual(
      expect.arrayContaining(['EngineClient', 'Learner', 'Metrics', 'TokenUse', 'CallOptions']),
    );
  });
});
