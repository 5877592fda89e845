import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { SearchDocument } from '#agent_rl/core/services/search.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { buildCorpus, openCorpusBackend } from '#agent_rl/search/corpus/index.ts';
import type { BuildCorpusOptions } from '#agent_rl/search/corpus/index.ts';
import { lanceVersion } from '#agent_rl/search/corpus/manifest.ts';
import { letterEmbedder } from '#tests/support/letter-embedder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

const kinds = ['harbour', 'bridge', 'tower', 'mill', 'abbey'];
const documents: readonly SearchDocument[] = Array.from({ length: 60 }, (_, index) => ({
  id: `town-${String(index).padStart(2, '0')}`,
  title: `Town ${index}`,
  text: `The ${kinds[index % 5]} of town ${index} is ${'abcd'.charAt(index % 4).repeat(3)} old.`,
  url: `https://towns.example/${index}`,
}));

const sourceOf = (items: readonly SearchDocument[], sha256 = 'one') => ({
  sha256,
  files: ['documents.jsonl'],
  read: () => items.map((document) => ({ document })),
});

const build = (output: string, options: Partial<BuildCorpusOptions> = {}) =>
  buildCorpus({ source: sourceOf(documents), output, version: '0.0.0', ...options });

const words = join(folder, 'words');
const both = join(folder, 'both');
const embedder = letterEmbedder();

beforeAll(async () => {
  await build(words);
  await build(both, { embedder });
});

/** What a backend opened for one search finds. */
async function searched(
  [settings, options = {}]: Parameters<typeof openCorpusBackend>,
  request: { query: string; topK: number },
) {
  const backend = await openCorpusBackend(settings, options);
  const hits = await backend.search(request);
  await backend.close();
  return hits;
}

/** A copy of an index, for damage. */
function copyOf(index: string, name: string): string {
  const copy = join(folder, name);
  cpSync(index, copy, { recursive: true });
  return copy;
}

describe('A built index', () => {
  test('finds what it was built from, with addresses', async () => {
    const [hit] = await searched([{ path: words }], { query: 'harbour of town 25', topK: 3 });
    const { id: documentId, ...town } = documents[25]!;
    expect(hit).toMatchObject({ documentId, ...town });
  });

  test('describes what it was built from', async () => {
    const manifest = JSON.parse(readFileSync(join(both, 'manifest.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({
      kind: 'agent_rl.corpus',
      input: { sha256: 'one', files: ['documents.jsonl'] },
      counts: { documents: 60, passages: 60 },
      dense: { embedder: 'letters abcd', dimensions: 5 },
      approximate: false,
    });
  });

  test('returns the same hits one by one, all at once, and after a rebuild', async () => {
    const again = join(folder, 'again');
    await build(again, { embedder, source: sourceOf(documents.toReversed()) });
    const queryAt = (index: number) => `the ${kinds[index % 5]} is old ${'abcd'[index % 4]}`;
    const queries = Array.from({ length: 40 }, (_, index) => queryAt(index));
    const backend = await openCorpusBackend({ path: both }, { embedder });
    const other = await openCorpusBackend({ path: again }, { embedder });
    const oneByOne = [];
    for (const query of queries) oneByOne.push(await backend.search({ query, topK: 7 }));
    const atOnce = await Promise.all(queries.map((query) => backend.search({ query, topK: 7 })));
    const rebuilt = await Promise.all(queries.map((query) => other.search({ query, topK: 7 })));
    await Promise.all([backend.close(), other.close()]);
    expect(oneByOne[0]).toHaveLength(7);
    expect(atOnce).toEqual(oneByOne);
    expect(rebuilt).toEqual(oneByOne);
  });

  test('can be searched by words only although it has vectors', async () => {
    const hits = await searched([{ path: both, dense: 'none' }], { query: 'aaaa', topK: 3 });
    expect(hits).toEqual([]);
  });

  describe('of a long and a short document', () => {
    const output = join(folder, 'long');
    const floors = Array.from({ length: 40 }, (_, index) => `The tower has floor ${index}.`);
    const far = 'Far away among hills and rivers there stands a tower.';
    const texts = { long: floors.join(' '), far };
    beforeAll(() => {
      const items = Object.entries(texts).map(([id, text]) => ({ id, title: '', text }));
      return build(output, {
        source: sourceOf(items),
        settings: { chunking: { tokens: 20 } },
      });
    });
    const ids = async (limits: object, topK: number) => {
      const hits = await searched([{ path: output, ...limits }], { query: 'tower', topK });
      return hits.map(({ documentId }) => documentId);
    };

    test('limits the passages per document', async () => {
      // 40 sentences of 5 words, 20 words a passage.
      expect((await ids({}, 20)).filter((id) => id === 'long')).toHaveLength(10);
      expect((await ids({ passagesPerDocument: 1 }, 20)).toSorted()).toEqual(['far', 'long']);
    });

    test('limits the candidates per list', async () => {
      const passagesPerDocument = 1;
      expect(await ids({ candidates: 50, passagesPerDocument }, 2)).toEqual(['long', 'far']);
      // The two best passages are of one document.
      expect(await ids({ candidates: 2, passagesPerDocument }, 2)).toEqual(['long']);
    });
  });

  test('searches many vectors with an approximate index and finds the nearest', async () => {
    const output = join(folder, 'approximate');
    const many = Array.from({ length: 400 }, (_, index) => ({
      id: `d${String(index).padStart(3, '0')}`,
      title: '',
      text: 'a'.repeat(1 + (index % 20)) + 'b'.repeat(1 + Math.floor(index / 20)),
    }));
    const options = { embedder, source: sourceOf(many), settings: { annFrom: 300 } };
    const { manifest } = await build(output, options);
    expect(manifest.approximate).toBe(true);
    // a 3 times and b 7 times: index 2 + 20 x 6. No other document has the query's word.
    const request = { query: 'aaabbbbbbb', topK: 1 };
    const [hit] = await searched([{ path: output }, { embedder }], request);
    expect(hit?.documentId).toBe('d122');
  });
});

describe('A build over an existing index', () => {
  test('keeps an index of the same input and settings', async () => {
    const kept = { built: false, manifest: { counts: { documents: 60 } } };
    expect(await build(words)).toMatchObject(kept);
  });

  test.each([
    ['other input', { source: sourceOf(documents, 'two') }],
    ['other settings', { settings: { chunking: { tokens: 64 } } }],
    ['vectors', { embedder }],
  ])('refuses an index of %s without rebuild', async (_, options) => {
    const output = copyOf(words, `other-${_}`);
    expect(await rejectionOf(build(output, options))).toMatchObject({ code: 'CORPUS_MISMATCH' });
    expect(await build(output, { ...options, rebuild: true })).toMatchObject({ built: true });
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test.each([
    ['of the same documents is taken', 'one', { built: false }],
    ['of other documents is refused and kept', 'two', { code: 'CORPUS_MISMATCH' }],
  ])(
    'handles an index written meanwhile by another process: one %s',
    async (_, sha256, outcome) => {
      const output = join(folder, `meanwhile-${sha256}`);
      const { read, ...source } = sourceOf(documents, sha256);
      const overtaken = () => {
        cpSync(words, output, { recursive: true });
        return read();
      };
      const building = build(output, { source: { ...source, read: overtaken } });
      expect(await building.catch((thrown: unknown) => thrown)).toMatchObject(outcome);
      const [kept, whole] = [output, words].map((at) => readFileSync(join(at, 'manifest.json')));
      expect(kept).toEqual(whole);
      expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
    },
  );

  test('never replaces a folder with other contents', async () => {
    const output = join(folder, 'foreign');
    cpSync(words, output, { recursive: true });
    writeFileSync(join(output, 'thesis.txt'), 'mine');
    const { code } = await rejectionOf(build(output, { rebuild: true }));
    expect(code).toBe('OUTPUT_UNWRITABLE');
    expect(readFileSync(join(output, 'thesis.txt'), 'utf8')).toBe('mine');
  });

  test('leaves nothing behind when it fails or is aborted', async () => {
    const output = join(folder, 'never');
    for (const items of [[...documents, documents[0] as SearchDocument], []]) {
      const { code } = await rejectionOf(build(output, { source: sourceOf(items) }));
      expect(code).toBe('DATASET_INVALID');
    }
    const reason = new Error('stop');
    await expect(build(output, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(readdirSync(folder).filter((name) => name.startsWith('never'))).toEqual([]);
  });
});

describe('A damaged index', () => {
  const dataFile = (index: string): string => {
    const data = join(index, 'lance', 'passages.lance', 'data');
    return join(data, readdirSync(data)[0] ?? '');
  };
  const harm: Record<string, (index: string) => void> = {
    'without its manifest': (index) => rmSync(join(index, 'manifest.json')),
    'with half a manifest': (index) => writeBelow(index, 'manifest.json', '{"kind": "ag'),
    'with another manifest': (index) => writeBelow(index, 'manifest.json', '{"kind": "thesis"}'),
    'with a file cut short': (index) =>
      writeFileSync(dataFile(index), readFileSync(dataFile(index)).subarray(0, 100)),
    'with one bit changed': (index) => {
      const bytes = readFileSync(dataFile(index));
      bytes[200] = (bytes[200] ?? 0) ^ 1;
      writeFileSync(dataFile(index), bytes);
    },
    'with a file missing': (index) => rmSync(dataFile(index)),
    'with a file too many': (index) => appendFileSync(join(index, 'lance', 'extra'), 'x'),
    'without its table': (index) => rmSync(join(index, 'lance'), { recursive: true }),
  };

  test.each(Object.keys(harm))('%s is detected, and replaced only with rebuild', async (name) => {
    const index = copyOf(words, `damaged ${name}`);
    harm[name]?.(index);
    expect(await rejectionOf(openCorpusBackend({ path: index }))).toMatchObject({
      code: 'CORPUS_INVALID',
      message: expect.stringContaining('agent-rl data index'),
    });
    expect(await rejectionOf(build(index))).toMatchObject({ code: 'CORPUS_INVALID' });
    expect(await build(index, { rebuild: true })).toMatchObject({ built: true });
    expect(await searched([{ path: index }], { query: 'abbey', topK: 1 })).toHaveLength(1);
  });
});

describe('The opening of an index', () => {
  const mismatch = { code: 'CORPUS_MISMATCH' };

  test('refuses an index without vectors, or with vectors of another embedder or other weights of the same name', async () => {
    const open = (path: string, other = embedder) =>
      rejectionOf(openCorpusBackend({ path }, { embedder: other }));
    expect(await open(words)).toMatchObject(mismatch);
    expect(await open(both, letterEmbedder('efgh'))).toMatchObject(mismatch);
    expect(await open(both, letterEmbedder('wxyz', embedder.name))).toMatchObject(mismatch);
    expect(await open(both, letterEmbedder('ab', embedder.name))).toMatchObject(mismatch);
  });

  test('refuses an index of another version', async () => {
    const index = copyOf(words, 'old');
    const file = join(index, 'manifest.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(`"${lanceVersion}"`, '"0.1.0"'));
    expect(await rejectionOf(openCorpusBackend({ path: index }))).toMatchObject(mismatch);
  });

  test('refuses an embedder together with dense: none', async () => {
    const opening = openCorpusBackend({ path: both, dense: 'none' }, { embedder });
    expect(await rejectionOf(opening)).toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

test('the manifest names the LanceDB that is installed', () => {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  expect(text).toContain(`"@lancedb/lancedb": "${lanceVersion}"`);
});
