import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { buildMissingIndex } from '#agent_rl/tools/search/open-search.ts';
import { jobs } from '#agent_rl/jobs/jobs.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const root = temporaryFolder();
const settings = { path: join(root, 'index'), documents: join(root, 'documents.jsonl') };
const document = (text: string): string => `${JSON.stringify({ id: 'a', title: 'A', text })}\n`;

test('an index of the same documents is reused, and one of different documents is refused', async () => {
  writeBelow(root, 'documents.jsonl', document('The bridge is old.'));
  expect(await buildMissingIndex(settings)).toMatchObject({ built: true });
  expect(await buildMissingIndex(settings)).toMatchObject({ built: false });
  writeBelow(root, 'documents.jsonl', document('The bridge is new.'));
  const { code, message } = await rejectionOf(buildMissingIndex(settings));
  expect(code).toBe('CORPUS_MISMATCH');
  expect(message).toMatch(/different input.*delete/);
});

const index = (...args: readonly string[]) => commandLine(['data', 'index', ...args], { jobs });

test.each([
  ['documents', { id: 'a', text: 'The bridge is old.', note: 1 }],
  ['passages', { document_id: 'a', text: 'The bridge is old.', start: 0 }],
])('an index that agent-rl data index built from the same %s is reused', async (name, line) => {
  const documents = writeBelow(root, `${name}/chunks.jsonl`, `${JSON.stringify(line)}\n\n`);
  const path = join(root, `${name}-index`);
  expect(await index(documents, '--output', path)).toMatchObject({ code: 0 });
  for (const given of [documents, join(root, name)])
    expect(await buildMissingIndex({ path, documents: given })).toMatchObject({ built: false });
});

test('the advice for an index with other settings builds one that is accepted', async () => {
  const documents = writeBelow(root, 'other.jsonl', document('The bridge is old.'));
  const path = join(root, 'other-index');
  await index(documents, '--output', path, '--set', 'text.stem=false');
  const { code, message } = await rejectionOf(buildMissingIndex({ path, documents }));
  expect(code).toBe('CORPUS_MISMATCH');
  expect(message).toContain('remove corpus.documents');
  const command = /agent-rl data index (\S+) --output (\S+) --rebuild/.exec(message) ?? [];
  const [, input = '', output = ''] = command;
  expect(await index(input, '--output', output, '--rebuild')).toMatchObject({ code: 0 });
  expect(await buildMissingIndex({ path, documents })).toMatchObject({ built: false });
});

test('an index without documents in its settings is left to be opened', async () => {
  await expect(buildMissingIndex({ path: join(root, 'nowhere') })).resolves.toBeUndefined();
});
