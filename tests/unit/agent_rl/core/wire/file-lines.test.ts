import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { fileLines } from '#agent_rl/core/wire/file-lines.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

async function linesOf(text: string, most?: number): Promise<[number, string][]> {
  const file = join(folder, 'lines.txt');
  writeFileSync(file, text);
  const lines: [number, string][] = [];
  for await (const { line, bytes } of fileLines(file, most)) lines.push([line, bytes.toString()]);
  return lines;
}

test.each([
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\n\nb', ['a', '', 'b']],
  ['a\r\nb\r\n', ['a', 'b']],
  ['a\rb\r\r\nc', ['a', 'b', '', 'c']],
  ['a\u2028b\nc', ['a\u2028b', 'c']],
])('the text %j has the lines %j', async (text, expected) => {
  expect(await linesOf(text)).toEqual(expected.map((line, index) => [index + 1, line]));
});

test('lines longer than a chunk are complete', async () => {
  const long = 'é'.repeat(200_000);
  expect((await linesOf(`x\n${long}\n${long}`)).flat()).toEqual([1, 'x', 2, long, 3, long]);
});

test('a line that is too long is refused with its number', async () => {
  const error = await rejectionOf(linesOf(`a\nb\n${'x'.repeat(300_000)}`, 200_000));
  expect(error).toMatchObject({ code: 'DATASET_INVALID' });
  expect(error.message).toMatch(/lines\.txt:3 is longer than 200000 bytes/);
});
