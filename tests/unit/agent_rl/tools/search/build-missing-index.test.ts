import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { buildMissingIndex } from '../../../../../agent_rl/tools/search/build-missing-index.ts';
import { temporaryFolder, writeBelow } from '../../../../support/temporary-folder.ts';
import { rejectionOf } from '../../../../support/thrown.ts';

const root = temporaryFolder();
const settings = { path: join(root, 'index'), documents: join(root, 'documents.jsonl') };
const document = (text: string): string => `${JSON.stringify({ id: 'a', title: 'A', text })}\n`;

test('an index made of the same documents is used again, and one made of others is not taken for it', async () => {
  writeBelow(root, 'documents.jsonl', document('The bridge is old.'));
  await buildMissingIndex(settings);
  await expect(buildMissingIndex(settings)).resolves.toBeUndefined();
  writeBelow(root, 'documents.jsonl', document('The bridge is new.'));
  const { code, message } = await rejectionOf(buildMissingIndex(settings));
  expect(code).toBe('CORPUS_MISMATCH');
  expect(message).toMatch(/other input.*delete this one/);
});

test('an index that no documents are named for is left to whoever opens it', async () => {
  await expect(buildMissingIndex({ path: join(root, 'nowhere') })).resolves.toBeUndefined();
});
