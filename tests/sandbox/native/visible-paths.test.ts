import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { evaluatePython, hasNativePython } from '#tests/support/python.ts';

const native = hasNativePython ? describe : describe.skip;

native('A program on this machine', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'agent-rl-visible-')));
  const at = (path: string): string => join(top, path);
  const without = (hidden: readonly string[]): unknown =>
    evaluatePython(
      `from walls import visible_paths\nprint(json.dumps(visible_paths._without(${JSON.stringify(at('lib'))}, ${JSON.stringify(hidden)})))`,
    );
  beforeAll(() => {
    for (const folder of [
      'lib/python',
      'lib/node_modules/agent_rl/dataset',
      'lib/node_modules/other',
    ]) {
      mkdirSync(at(folder), { recursive: true });
    }
    writeFileSync(at('lib/libc.so'), '');
    symlinkSync(at('lib/node_modules/agent_rl'), at('lib/link'));
  });
  afterAll(() => rmSync(top, { recursive: true, force: true }));

  test('sees a whole library if nothing in it is hidden', () => {
    expect(without([at('elsewhere')])).toEqual([at('lib')]);
  });

  test('sees the rest of a library in which this package is installed', () => {
    expect(without([at('lib/node_modules/agent_rl')])).toEqual([
      at('lib/libc.so'),
      at('lib/node_modules/other'),
      at('lib/python'),
    ]);
  });

  test('sees a library within a hidden folder, such as a virtual environment of the project', () => {
    expect(without([top])).toEqual([at('lib')]);
  });

  test('sees neither this package nor the folders around it', () => {
    const root = packageRoot();
    const paths = evaluatePython(
      `from walls import visible_paths\nprint(json.dumps(visible_paths.visible_paths([${JSON.stringify(root)}])))`,
    ) as string[];
    expect(paths.filter((path) => root.startsWith(path) || path.startsWith(root))).toEqual([]);
    expect(paths.some((path) => path.includes('/lib'))).toBe(true);
    expect(
      paths.filter((path) => /^\/(?:etc|home|root|var|proc|bin|sbin|usr\/bin)?$/.test(path)),
    ).toEqual([]);
  });
});
