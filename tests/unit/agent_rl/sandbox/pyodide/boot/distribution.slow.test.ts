import { appendFileSync, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { findDistribution } from '#agent_rl/sandbox/pyodide/boot/distribution.ts';
import { builtFolder } from '#agent_rl/sandbox/pyodide/boot/restricted-node.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const { folder, key } = findDistribution();
const top = temporaryFolder();
const copy = join(top, 'programs');
const keyOfCopy = (): string => findDistribution(folder, copy).key;

/** Every source of the snapshot, by its built name. */
const sources = ['pyodide', 'probes'].flatMap((room) =>
  readdirSync(join(packageRoot(), 'agent_rl', 'sandbox', room), { recursive: true })
    .map((name) => join(room, String(name)))
    .filter((path) => path.endsWith('.ts'))
    .map((path) => path.replace(/\.ts$/, '.js')),
);

describe('The key of the snapshot', () => {
  beforeEach(() => {
    rmSync(copy, { recursive: true, force: true });
    for (const room of ['pyodide', 'probes']) {
      cpSync(join(builtFolder(), room), join(copy, room), { recursive: true });
    }
  });

  test.each(sources)('changes with %s', (name) => {
    expect(existsSync(join(copy, name))).toBe(true);
    appendFileSync(join(copy, name), '\n');
    expect(keyOfCopy()).not.toBe(key);
  });

  test('changes when a program is renamed or added', () => {
    const [first = ''] = sources;
    const another = join(copy, 'pyodide', 'another.js');
    renameSync(join(copy, first), another);
    expect(keyOfCopy()).not.toBe(key);
    renameSync(another, join(copy, first));
    appendFileSync(another, '');
    expect(keyOfCopy()).not.toBe(key);
  });

  test('does not depend on where the programs lie, nor on their declarations', () => {
    appendFileSync(join(copy, 'pyodide', 'child', 'child-main.d.ts'), '\n');
    appendFileSync(join(copy, 'pyodide', 'child', 'child-main.js.map'), '\n');
    expect(keyOfCopy()).toBe(key);
  });

  test('cannot be computed before the build', () => {
    expect(() => findDistribution(folder, join(top, 'nowhere'))).toThrow(/nowhere.*npm run build/);
  });
});
