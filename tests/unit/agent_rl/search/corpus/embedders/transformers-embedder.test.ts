import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { openTransformersEmbedder } from '#agent_rl/search/corpus/embedders/transformers-embedder.ts';
import { openTaskDocuments } from '#agent_rl/search/corpus/index.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { writeTinyEmbeddingModel } from '#tests/support/tiny-embedding-model.ts';

const folder = temporaryFolder();
const model = writeTinyEmbeddingModel(join(folder, 'tiny'));
const settings = { type: 'transformers', model } as const;

const rounded = (vectors: readonly Float32Array[]) =>
  vectors.map((vector) => [...vector].map((value) => Number(value.toFixed(4))));

describe('An embedding model in a folder', () => {
  test('prefixes texts by kind, averages their words and scales the mean to length 1', async () => {
    const embedder = await openTransformersEmbedder(settings);
    // query: (1, 0, 0) and cat (3, 0, 0) have the direction (1, 0, 0).
    // query: (1, 0, 0), dog (0, 4, 0), dog (0, 4, 0) have that of (1, 8, 0): length sqrt(65).
    // Padding beside the longer text changes nothing.
    expect(rounded(await embedder.embed(['cat', 'dog dog'], 'query'))).toEqual([
      [1, 0, 0],
      [0.124, 0.9923, 0],
    ]);
    // passage: (0, 1, 0) and cat (3, 0, 0): (3, 1, 0) over sqrt(10).
    expect(rounded(await embedder.embed(['cat'], 'passage'))).toEqual([[0.9487, 0.3162, 0]]);
    await embedder.close();
  });

  test('accepts other prefixes and pooling', async () => {
    const plain = { ...settings, queryPrefix: '', passagePrefix: '' };
    const first = await openTransformersEmbedder({ ...plain, pooling: 'cls' });
    const last = await openTransformersEmbedder({ ...plain, pooling: 'last_token' });
    expect(rounded(await first.embed(['cat dog', 'sun'], 'query'))).toEqual([
      [1, 0, 0],
      [0, 0, 1],
    ]);
    expect(rounded(await last.embed(['cat dog', 'sun'], 'query'))).toEqual([
      [0, 1, 0],
      [0, 0, 1],
    ]);
    expect(first.name).not.toBe(last.name);
    await Promise.all([first.close(), last.close()]);
  });

  test('counts the texts longer than its limit', async () => {
    const embedder = await openTransformersEmbedder(settings);
    // With `passage:` 16 words, which it reads, and 17.
    const [most, more] = [15, 16].map((words) => Array<string>(words).fill('cat').join(' '));
    await embedder.embed([most!, more!, 'cat'], 'passage');
    expect(embedder.shortened).toBe(1);
    await embedder.close();
  });

  test('finds a passage that shares no word with the question', async () => {
    const documents = ['dog dog', 'sun sun'].map((text) => ({ id: text, title: '', text }));
    const dense = { ...settings, queryPrefix: '', passagePrefix: '' };
    const backend = await openTaskDocuments(documents, { dense });
    const [hit] = await backend.search({ query: 'puppy', topK: 1 });
    await backend.close();
    expect(hit?.documentId).toBe('dog dog');
  });
});

describe('The error for a missing part', () => {
  const unavailable = (message: string) => errorOf('EMBEDDER_UNAVAILABLE', message);

  test('names missing files', async () => {
    const part = join(folder, 'part');
    cpSync(model, part, { recursive: true });
    rmSync(join(part, 'onnx'), { recursive: true });
    const error = await rejectionOf(openTransformersEmbedder({ ...settings, model: part }));
    expect(error).toMatchObject(unavailable('has no onnx/model.onnx'));
    const quantized = { ...settings, dtype: 'q8' } as const;
    const absent = await rejectionOf(openTransformersEmbedder(quantized));
    expect(absent).toMatchObject(unavailable('onnx/model_quantized.onnx'));
  });

  test('names the missing package', async () => {
    const absent = () =>
      Promise.reject(new Error("Cannot find package '@huggingface/transformers'"));
    const error = await rejectionOf(openTransformersEmbedder(settings, absent));
    expect(error).toMatchObject(unavailable('npm install @huggingface/transformers'));
  });

  test('never replaces a search by meaning with one by words', async () => {
    const dense = { ...settings, model: join(folder, 'nowhere') };
    const opening = openTaskDocuments([{ id: 'a', title: '', text: 'a' }], { dense });
    expect(await rejectionOf(opening)).toMatchObject(unavailable('dense: none'));
  });
});
