import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { jobs } from '#agent_rl/jobs/jobs.ts';
import { openCorpusBackend } from '#agent_rl/search/corpus/index.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { writeTinyEmbeddingModel } from '#tests/support/tiny-embedding-model.ts';

const folder = temporaryFolder();

const lines = (...rows: readonly unknown[]): string =>
  rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n');

const oss = { id: 'a', title: 'Oss', text: 'The mayor of Oss is Ada.', url: 'https://e.org/a' };
const cats = { id: 'b', text: 'Cats sleep all day.', extra: [1] };
const documents = writeBelow(folder, 'documents.jsonl', lines(oss, '', cats));

const index = (...args: readonly string[]) => commandLine(['data', 'index', ...args], { jobs });

const firstHit = async (path: string, query: string) => {
  const backend = await openCorpusBackend({ path });
  const [hit] = await backend.search({ query, topK: 1 });
  await backend.close();
  return hit;
};

describe('agent-rl data index', () => {
  test('indexes documents, finds its work done, and rebuilds only with --rebuild', async () => {
    const output = join(folder, 'index');
    const first = await index(documents, '--output', output, '--json');
    expect(first).toMatchObject({ code: 0 });
    const counted = { built: true, documents: 2, passages: 2, dense: 'none' };
    expect(JSON.parse(first.stdout)).toMatchObject(counted);
    expect(await firstHit(output, 'who is the mayor of Oss')).toMatchObject({ documentId: 'a' });

    const second = await index(documents, '--output', output);
    expect(second.stdout).toContain('already contains this index');

    const other = [documents, '--output', output, '--set', 'chunking.tokens=64'];
    const mismatch = expect.stringContaining('CORPUS_MISMATCH');
    expect(await index(...other)).toMatchObject({ code: 2, stderr: mismatch });
    expect(await index(...other, '--rebuild')).toMatchObject({ code: 0 });
  });

  test('says how many passages are longer than the embedder reads', async () => {
    const model = writeTinyEmbeddingModel(join(folder, 'tiny'));
    const long = { id: 'long', text: 'cat '.repeat(40) };
    const file = writeBelow(folder, 'long.jsonl', lines(long, { id: 'short', text: 'dog' }));
    const dense = `dense={type: transformers, model: ${JSON.stringify(model)}}`;
    const output = join(folder, 'long');
    const made = await index(file, '--output', output, '--set', dense, '--json');
    expect(JSON.parse(made.stdout)).toMatchObject({ passages: 2, shortenedPassages: 1 });
    expect(made.stderr).toMatch(/1 of 2 passages are longer than transformers tiny .* can embed/);
  });

  test('takes the passages of a folder of prepared data, with their places', async () => {
    const prepared = join(folder, 'prepared');
    const first = { document_id: 'a', title: 'Oss', text: 'The mayor is Ada.', start: 0, end: 17 };
    const place = { text: 'The harbour is old.', url: 'https://e.org/harbour', start: 18, end: 37 };
    const harbour = { documentIds: ['a', 'b'], title: 'Oss', ...place };
    writeBelow(prepared, 'chunks.jsonl', lines(first, harbour));
    const output = join(folder, 'index-of-passages');
    expect(await index(prepared, '--output', output)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 documents (2 passages)'),
    });
    const cut = await index(prepared, '--output', `${output}-cut`, '--set', 'chunking.tokens=8');
    expect(cut.code).toBe(2);
    expect(cut.stderr).toMatch(/CONFIG_INVALID.*chunking has no effect: .*chunks\.jsonl/s);
    const hit = await firstHit(output, 'old harbour');
    expect(hit).toMatchObject({ documentId: 'a', alsoIn: ['b'], ...place });
  });

  test('reads its settings from a file', async () => {
    const config = writeBelow(folder, 'index.yaml', 'text: {stem: false}\n');
    const output = join(folder, 'index-without-stems');
    const { code } = await index(documents, '--output', output, '--config', config);
    expect(code).toBe(0);
    expect(await firstHit(output, 'sleeping')).toBeUndefined();
    expect(await firstHit(output, 'sleep')).toMatchObject({ documentId: 'b' });
  });

  test('refuses an output that is a file', async () => {
    const output = writeBelow(folder, 'a-file', 'hi');
    for (const flags of [[], ['--rebuild']])
      expect(await index(documents, '--output', output, ...flags)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/OUTPUT_UNWRITABLE.*a-file is a file/s),
      });
    expect(readFileSync(output, 'utf8')).toBe('hi');
  });

  const bad = (line: string) => [writeBelow(folder, `${line.length}.jsonl`, line)];
  const set = (setting: string) => [documents, '--set', setting];
  test.each([
    ['a line that is no JSON', bad('cats'), /DATASET_INVALID.*4\.jsonl:1.*is not JSON/s],
    ['a line without text', bad('{"id": "a"}'), /DATASET_INVALID.*:1.*text/s],
    ['a line with an empty id', bad('{"id": "", "text": "a"}'), /DATASET_INVALID.*:1.*id/s],
    ['a passage without its place', bad('{"document_id": "a", "text": "a"}'), /:1.*start/s],
    ['a line that is a list', bad('[1]'), /DATASET_INVALID.*3\.jsonl:1/s],
    [
      'a place beyond all texts',
      bad('{"document_id": "a", "text": "a", "start": 5000000000}'),
      /DATASET_INVALID.*:1.*start/s,
    ],
    ['an input that is not there', [join(folder, 'nowhere.jsonl')], /DATASET_INVALID/],
    ['a folder without data', [join(writeBelow(folder, 'no-data/x', ''), '..')], /DATASET_INVALID/],
    ['an unknown setting', set('chunks=3'), /CONFIG_INVALID/],
    ['a malformed --set', set('chunks'), /CONFIG_INVALID/],
    ['an unknown language', set('text.language=Klingon'), /expected one of Arabic, Danish/],
    ['a language without stop words', set('text.language=Tamil'), /text\.removeStopWords/],
    ['overlaps beyond the size', set('chunking={tokens: 8, overlap: 9}'), /chunking\.overlap is 9/],
    ['settings that are not there', [documents, '--config', 'nowhere.yaml'], /CONFIG_INVALID/],
    ['settings from a device', [documents, '--config', '/dev/zero'], /it is a pipe or a device/],
    ['settings from a folder', [documents, '--config', '.'], /--config .*: it is a folder, not a/],
    [
      'an embedding model that is not there',
      set('dense={type: transformers, model: /nowhere}'),
      /EMBEDDER_UNAVAILABLE/,
    ],
  ])('refuses %s, and leaves nothing', async (_, args, error) => {
    const { code, stderr } = await index(...args, '--output', join(folder, 'never'));
    expect(code).toBe(2);
    expect(stderr).toMatch(error);
    expect(readdirSync(folder).filter((name) => name.startsWith('never'))).toEqual([]);
  });
});
