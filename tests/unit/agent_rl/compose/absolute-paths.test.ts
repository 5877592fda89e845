import { join } from 'node:path';

import { Type } from 'typebox';
import { expect, test } from '@jest/globals';

import { absolutePath, withAbsolutePaths } from '#agent_rl/compose/absolute-paths.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const here = (path: string) => join(process.cwd(), path);

test('a path is resolved in the working directory, or in the package if nothing is there', () => {
  const started = process.cwd();
  try {
    process.chdir(folder);
    writeBelow(folder, 'own/file.txt', '');
    expect(absolutePath('own/file.txt')).toBe(here('own/file.txt'));
    expect(absolutePath('model/starter')).toBe(join(packageRoot(), 'model/starter'));
    expect(absolutePath('not/yet/there')).toBe(here('not/yet/there'));
  } finally {
    process.chdir(started);
  }
});

test('only settings marked as paths become absolute, at any depth', () => {
  const schema = Type.Object({
    path: Type.String({ path: 'file' }),
    name: Type.String(),
    model: Type.String({ path: 'file-or-name' }),
    inner: Type.Optional(Type.Object({ files: Type.Array(Type.String({ path: 'file' })) })),
    either: Type.Union([Type.Null(), Type.Object({ cassette: Type.String({ path: 'file' }) })]),
  });
  const given = (at: (path: string) => string, model: string) => ({
    path: at('a'),
    name: 'a',
    model,
    inner: { files: [at('b'), at('c')] },
    either: { cassette: at('d') },
    unknown: 'a',
  });
  const settings = given(String, 'org/name');
  expect(withAbsolutePaths(schema, settings)).toEqual(given(here, 'org/name'));
  const local = given(here, here('model/starter'));
  expect(withAbsolutePaths(schema, given(String, 'model/starter'))).toEqual(local);
  expect(withAbsolutePaths(undefined, settings)).toBe(settings);
});
