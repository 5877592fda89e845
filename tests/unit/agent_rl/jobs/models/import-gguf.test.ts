import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { importGguf } from '#agent_rl/jobs/models/import-gguf.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const root = temporaryFolder();
const { signal } = new AbortController();

/** Before the model is read: there is no file of it. */
const imported = (chatTemplate: string) =>
  importGguf({
    file: join(root, 'none.gguf'),
    folder: join(root, 'model'),
    chatTemplate,
    signal,
    print: () => undefined,
  });

test.each([
  ['is not there', () => join(root, 'none.jinja'), 'CONFIG_INVALID', '--chat-template'],
  [
    'cannot be parsed',
    () => writeBelow(root, 'broken.jinja', '{% for message in messages %}'),
    'TOKENIZER_INVALID',
    'cannot be parsed',
  ],
])('a chat template that %s is refused before the model is read', async (_, file, code, text) => {
  const failure = imported(file());
  await expect(failure).rejects.toMatchObject({ code });
  await expect(failure).rejects.toThrow(text);
  expect(existsSync(join(root, 'model'))).toBe(false);
});
