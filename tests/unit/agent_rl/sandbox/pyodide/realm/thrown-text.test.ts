import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { expect, test } from '@jest/globals';

import { filesProblemText, thrownText } from '#agent_rl/sandbox/pyodide/realm/thrown-text.ts';

const unreadable = {
  get message(): never {
    throw new Error('no');
  },
};

test.each<[string, unknown, string]>([
  ['an error', new Error('no file x'), 'no file x'],
  ['an error of files', { name: 'ErrnoError', errno: 54 }, "ENOTDIR (Emscripten's errno 54)"],
  ['one without a name', { errno: 7 }, "an error of the file system (Emscripten's errno 7)"],
  ['an error with a number and a message', { errno: 51, message: 'own' }, 'own'],
  ['a text', 'oh', 'oh'],
  ['nothing', null, 'null'],
  ['what cannot be read', unreadable, 'something that cannot be shown'],
])('A value thrown in the realm has a text: %s', (_name, thrown, text) => {
  expect(thrownText(thrown)).toBe(text);
});

test('A problem of files names the quota if it is exceeded', () => {
  const settings = { fileBytes: 2 ** 21, fileCount: 7 };
  expect(filesProblemText({ errno: 51 }, settings)).toBe(
    "ENOSPC (Emscripten's errno 51); at most 2 MiB and 7 files and folders are allowed",
  );
  expect(filesProblemText({ errno: 20 }, settings)).toBe("EEXIST (Emscripten's errno 20)");
});

test("Errors have the names of pyodide's Emscripten", () => {
  const folder = dirname(createRequire(import.meta.url).resolve('pyodide'));
  const glue = readFileSync(join(folder, 'pyodide.asm.mjs'), 'utf8');
  const codes = /ERRNO_CODES=\{([^}]*)\}/.exec(glue)?.[1];
  const pairs = (codes ?? '').split(',').map((pair) => pair.split(':'));
  for (const errno of [2, 20, 31, 37, 44, 48, 51, 54]) {
    const name = pairs.find(([, number]) => Number(number) === errno)?.[0];
    expect(thrownText({ errno })).toBe(`${name} (Emscripten's errno ${errno})`);
  }
});
