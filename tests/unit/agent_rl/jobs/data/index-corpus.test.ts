import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

const documents = writeBelow(
  folder,
  'documents.jsonl',
  lines({ id: 'a', title: 'Oss', text: 'The mayor of Oss is Ada.', url: 'https://e.org/a' }, '', {
    id: 'b',
    text: 'Cats sleep all day.',
    extra: [1],
  }),
);

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
    expect(JSON.parse(first.stdout)).toMatchObject({
      built: true,
      documents: 2,
      passages: 2,
      dense: 'none',
    });
    expect(await firstHit(output, 'who is the mayor of Oss')).toMatchObject({ documentId: 'a' });

    const second = await index(documents, '--output', output);
    expect(second.stdout).toContain('already contains this index');

    const other = await index(documents, '--output', output, '--set', 'chunking.tokens=64');
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('CORPUS_MISMATCH');
    expect(
      await index(documents, '--output', output, '--set', 'chunking.tokens=64', '--rebuild'),
    ).toMatchObject({ code: 0 });
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
    writeBelow(
      prepared,
      'chunks.jsonl',
      lines(
        { document_id: 'a', title: 'Oss', text: 'The mayor is Ada.', start: 0, end: 17 },
        {
          documentIds: ['a', 'b'],
          title: 'Oss',
          text: 'The harbour is old.',
          url: 'https://e.org/harbour',
          start: 18,
          end: 37,
        },
      ),
    );
    const output = join(folder, 'index-of-passages');
    const { code, stdout } = await index(prepared, '--output', output);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 documents in 2 passages'),
    });
    const cut = await index(prepared, '--output', `${output}-cut`, '--set', 'chunking.tokens=8');
    expect(cut.code).toBe(2);
    expect(cut.stderr).toMatch(/CONFIG_INVALID.*chunking: no effect on .*chunks\.jsonl/s);
    expect(await firstHit(output, 'old harbour')).toMatchObject({
      documentId: 'a',
      alsoIn: ['b'],
      text: 'The harbour is old.',
      url: 'https://e.org/harbour',
      start: 18,
      end: 37,
    });
  });

  test('reads its settings from a file', async () => {
    const config = writeBelow(folder, 'index.yaml', 'text: {stem: false}\n');
    const output = join(folder, 'index-without-stems');
    expect(await index(documents, '--output', output, '--config', config)).toMatchObject({
      code: 0,
    });
    expect(await firstHit(output, 'sleeping')).toBeUndefined();
    expect(await firstHit(output, 'sleep')).toMatchObject({ documentId: 'b' });
  });

  test.each(['/dev/zero', '.'])('refuses settings from %s, which is no file', async (config) => {
    const output = join(folder, 'never');
    const { code, stderr } = await index(documents, '--output', output, '--config', config);
    expect([code, existsSync(output)]).toEqual([2, false]);
    expect(stderr).toMatch(
      /CONFIG_INVALID: --config .*: it is a (folder|pipe or a device), not a file/,
    );
  });

  test.each([
    ['no JSON', 'cats', 'is not JSON'],
    ['no text', '{"id": "a"}', 'text'],
    ['an empty id', '{"id": "", "text": "a"}', 'id'],
    ['a passage without its place', '{"document_id": "a", "text": "a"}', 'start'],
    ['a list', '[1]', 'bad.jsonl:1'],
    ['a place beyond all texts', '{"document_id": "a", "text": "a", "start": 5000000000}', 'start'],
  ])('says which line has %s', async (_, line, message) => {
    const bad = writeBelow(folder, 'bad.jsonl', line);
    const { code, stderr } = await index(bad, '--output', join(folder, 'never'));
    expect(code).toBe(2);
    expect(stderr).toContain('DATASET_INVALID');
    expect(stderr).toContain('bad.jsonl:1');
    expect(stderr).toContain(message);
    expect(existsSync(join(folder, 'never'))).toBe(false);
  });

  test('refuses an output that is a file', async () => {
    const output = writeBelow(folder, 'a-file', 'hi');
    for (const flags of [[], ['--rebuild']]) {
      const { code, stderr } = await index(documents, '--output', output, ...flags);
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/OUTPUT_UNWRITABLE.*a-file is a file/s),
      });
    }
    expect(readFileSync(output, 'utf8')).toBe('hi');
  });

  test.each([
    ['an input that is not there', [join(folder, 'nowhere.jsonl')], 'DATASET_INVALID'],
    ['a folder without data', [join(folder, 'index')], 'DATASET_INVALID'],
    ['an unknown setting', [documents, '--set', 'chunks=3'], 'CONFIG_INVALID'],
    ['a malformed --set', [documents, '--set', 'chunks'], 'CONFIG_INVALID'],
    [
      'an unknown language',
      [documents, '--set', 'text.language=Klingon'],
      'expected one of Arabic, Danish',
    ],
    [
      'a language without stop words',
      [documents, '--set', 'text.language=Tamil'],
      'text.removeStopWords',
    ],
    [
      'passages that share more than they hold',
      [documents, '--set', 'chunking={tokens: 8, overlap: 9}'],
      'chunking.overlap is 9',
    ],
    ['a config that is not there', [documents, '--config', 'nowhere.yaml'], 'CONFIG_INVALID'],
    [
      'an embedding model that is not there',
      [documents, '--set', 'dense={type: transformers, model: /nowhere}'],
      'EMBEDDER_UNAVAILABLE',
    ],
  ])('refuses %s', async (_, args, error) => {
    const { code, stderr } = await index(...args, '--output', join(folder, 'never'));
    expect(code).toBe(2);
    expect(stderr).toContain(error);
    expect(readdirSync(folder).filter((name) => name.startsWith('never'))).toEqual([]);
  });
});
