import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { evaluatePython, hasNativePython } from '#tests/support/python.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const native = hasNativePython ? describe : describe.skip;

native('A program on this machine', () => {
  const top = temporaryFolder();
  const at = (path: string): string => join(top, path);
  const without = (hidden: readonly string[]): unknown =>
    evaluatePython(
      `from walls import visible_paths\nprint(json.dumps(visible_paths._without(${JSON.stringify(at('lib'))}, ${JSON.stringify(hidden)})))`,
    );
  beforeAll(() => {
    for (const folder of ['python', 'node_modules/agent_rl/dataset', 'node_modules/other'])
      mkdirSync(at(`lib/${folder}`), { recursive: true });
    writeFileSync(at('lib/libc.so'), '');
    symlinkSync(at('lib/node_modules/agent_rl'), at('lib/link'));
  });

  const others = ['lib/libc.so', 'lib/node_modules/other', 'lib/python'];

  test.each([
    ['all of it if nothing in it is hidden', 'elsewhere', ['lib']],
    ['the rest of one that holds this package', 'lib/node_modules/agent_rl', others],
    ['one within a hidden folder, such as a virtual environment of the project', '', ['lib']],
  ])('sees of a library %s', (_, hidden, seen) => {
    expect(without([at(hidden)])).toEqual(seen.map(at));
  });

  test('sees neither this package nor the folders around it', () => {
    const root = packageRoot();
    const paths = evaluatePython(
      `from walls import visible_paths\nprint(json.dumps(visible_paths.visible_paths([${JSON.stringify(root)}])))`,
    ) as string[];
    expect(paths.filter((path) => root.startsWith(path) || path.startsWith(root))).toEqual([]);
    expect(paths.some((path) => path.includes('/lib'))).toBe(true);
    const whole = /^\/(?:etc|home|root|var|proc|bin|sbin|usr\/bin)?$/;
    expect(paths.filter((path) => whole.test(path))).toEqual([]);
  });
});
