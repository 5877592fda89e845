import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { openTransformersEmbedder } from '#agent_rl/search/corpus/embedders/transformers-embedder.ts';
import { exportEncoder } from '#model/onnx/export-encoder.ts';
import { SafetensorsFile, writeSafetensors } from '#model/weights/safetensors.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const fixture = join(packageRoot(), 'tests', 'fixtures', 'tiny-bert');
const folder = temporaryFolder();
const exported = join(folder, 'exported');

const { texts, vectors } = JSON.parse(readFileSync(join(fixture, 'expected.json'), 'utf8')) as {
  texts: string[];
  vectors: number[][];
};
const plain = { type: 'transformers', queryPrefix: '', passagePrefix: '' } as const;

/** The fixture with other files. */
function changed(name: string, files: Readonly<Record<string, object>>): string {
  const copy = join(folder, name);
  cpSync(fixture, copy, { recursive: true });
  for (const [file, json] of Object.entries(files)) writeBelow(copy, file, JSON.stringify(json));
  return copy;
}

const jsonOf = (file: string): object =>
  JSON.parse(readFileSync(join(fixture, file), 'utf8')) as object;

/** The fixture with its tensors under other names, or with others of their values. */
async function renamed(
  name: string,
  as: (tensor: string) => string,
  spoil: (values: Float32Array) => void = () => undefined,
): Promise<string> {
  const copy = changed(name, {});
  const file = await SafetensorsFile.open(join(fixture, 'model.safetensors'));
  const tensors = new Map<string, { shape: readonly number[]; values: Float32Array }>();
  for (const entry of file.entries) {
    const values = await file.readFloats(entry);
    spoil(values);
    tensors.set(as(entry.name), { shape: entry.shape, values });
  }
  await file.close();
  await writeSafetensors(join(copy, 'model.safetensors'), tensors);
  return copy;
}

async function expectSameVectors(model: string): Promise<void> {
  const embedder = await openTransformersEmbedder({ ...plain, model });
  const alone = [];
  for (const text of texts) alone.push(...(await embedder.embed([text], 'query')));
  // The shorter texts are padded.
  const together = await embedder.embed(texts, 'passage');
  await embedder.close();
  const close = vectors.map((vector) => vector.map((value) => expect.closeTo(value, 5)));
  const listed = (of: readonly Iterable<number>[]) => of.map((vector) => Array.from(vector));
  expect([listed(alone), listed(together)]).toEqual([close, close]);
}

test('an exported encoder cuts texts, pools as 1_Pooling says, and gives the vectors of PyTorch', async () => {
  const result = await exportEncoder(fixture, exported);
  const parameters = 8 * (10 + 12 + 2) + 2 * 8 + 2 * (4 * (64 + 8) + 2 * 128 + 16 + 8 + 4 * 8);
  // Without the pooler.
  expect(result).toMatchObject({ pooling: 'mean', maxTokens: 10, parameters });
  await expectSameVectors(exported);
});

test('an exported encoder gives the same vectors if its tensors are named as under a head', async () => {
  const to = join(folder, 'bert-exported');
  await exportEncoder(await renamed('bert', (name) => `bert.${name}`), to);
  await expectSameVectors(to);
});

describe('An export', () => {
  const configWith = (changes: object) => ({
    'config.json': { ...jsonOf('config.json'), ...changes },
  });
  const dense = [{ path: '2_Dense', type: 'sentence_transformers.models.Dense' }];
  const pooling = { pooling_mode_mean_tokens: true, pooling_mode_max_tokens: true };
  const both = { '1_Pooling/config.json': pooling };

  const nan = (values: Float32Array) => values.fill(Number.NaN, 2, 3);
  const layers = configWith({ num_hidden_layers: 3, vocab_size: 11 });
  test.each<[string, () => string | Promise<string>, RegExp]>([
    [
      'another architecture',
      () => changed('roberta', configWith({ model_type: 'roberta', num_attention_heads: 3 })),
      /model_type must be "bert"; got "roberta".*8 is not a multiple of 3/s,
    ],
    [
      'weights that do not fit',
      () => changed('layers', layers),
      /"embeddings.word_embeddings.weight" is \[10, 8\]; expected \[11, 8\].*"encoder.layer.2.attention.self.query.weight" is missing/s,
    ],
    ['NaN as a weight', () => renamed('nan', String, nan), /nan holds NaN at place 2;/],
    ['a later module', () => changed('dense', { 'modules.json': dense }), /s\.models\.Dense"/],
    ['two poolings', () => changed('pooling', both), /mean_tokens and pooling_mode_max/],
  ])('refuses %s', async (_, from, message) => {
    const exporting = exportEncoder(await from(), join(folder, 'none'));
    expect(await rejectionOf(exporting)).toMatchObject(errorOf('MODEL_INVALID', message));
  });

  test('refuses a folder that is not empty', async () => {
    const { code } = await rejectionOf(exportEncoder(fixture, fixture));
    expect(code).toBe('OUTPUT_UNWRITABLE');
  });
});
