import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { inspectModel, loadModel, saveModel } from '#model/weights/load-model.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { parameterCount, parameterSpecs } from '#model/config/parameters.ts';
import { writeSafetensors, type TensorToWrite } from '#model/weights/safetensors.ts';
import { weightsSha256 } from '#model/weights/weights-sha256.ts';
import { freshFolder, temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

const config = tinyModels['Qwen3 with two query heads per key head'] as ModelConfig;
const parameters = tinyWeights(config);
const all = temporaryFolder();
let folder = '';

beforeEach(() => {
  folder = freshFolder(all);
});

/** The tensors of a model as a file has them, named anew. */
const tensorsOf = (model: ModelConfig, named = (name: string) => name) => {
  const values = tinyWeights(model);
  const specs = parameterSpecs(model);
  return new Map<string, TensorToWrite>(
    specs.map(({ name, shape }) => [named(name), { shape, values: values.get(name)! }]),
  );
};
const stored = () => tensorsOf(config);
const bare = (name: string) => name.replace(/^model\./, '');

const save = (of = config, storedDtype: 'F32' | 'BF16' = 'F32') =>
  saveModel(folder, { config: of, parameters: tinyWeights(of), storedDtype });
const at = (name = 'model.safetensors') => path.join(folder, name);

test.each(Object.entries(tinyModels))('%s is loaded as it was saved', async (_, model) => {
  const made = { config: model, parameters: tinyWeights(model), storedDtype: 'F32' as const };
  await saveModel(folder, made);
  expect(await loadModel(folder)).toEqual(made);
});

test('the weights keep the width in which they were stored', async () => {
  await save(config, 'BF16');
  const loaded = await loadModel(folder);
  expect(loaded.storedDtype).toBe('BF16');
  await saveModel(folder, loaded);
  const again = await loadModel(folder);
  expect(weightsSha256(again.parameters)).toBe(weightsSha256(loaded.parameters));
});

/** The model in two shards, the first with its first five tensors. */
async function saveShards(): Promise<void> {
  await save();
  const tensors = [...stored()];
  await rm(at());
  await writeSafetensors(at('model-1.safetensors'), new Map(tensors.slice(0, 5)));
  await writeSafetensors(at('model-2.safetensors'), new Map(tensors.slice(5)));
  const shardOf = (place: number) => `model-${place < 5 ? 1 : 2}.safetensors`;
  const map = Object.fromEntries(tensors.map(([name], place) => [name, shardOf(place)]));
  await writeIndex(map);
}

const writeIndex = (map: Readonly<Record<string, string>>) =>
  writeFile(at('model.safetensors.index.json'), JSON.stringify({ weight_map: map }));

test('a model in shards is loaded', async () => {
  await saveShards();
  expect((await loadModel(folder)).parameters).toEqual(parameters);
});

test('a decoder without a head is loaded as Transformers stores it, without "model." in names', async () => {
  await save();
  const whole = await loadModel(folder);
  await writeSafetensors(at(), tensorsOf(config, bare));
  expect(await loadModel(folder)).toEqual(whole);
});

test('a decoder is refused without the head that its config asks for', async () => {
  const untied = { ...config, tiedEmbeddings: false };
  await save(untied);
  const tensors = tensorsOf(untied, bare);
  tensors.delete('lm_head.weight');
  await writeSafetensors(at(), tensors);
  await expect(loadModel(folder)).rejects.toThrow(
    /^The weights[^\n]*\n- "lm_head.weight" is missing; expected \[\d+, \d+\]\.$/,
  );
});

test('a folder is inspected by its headers, without reading a weight', async () => {
  await saveShards();
  const before = await readFile(at('model-2.safetensors'));
  // Weights that are not numbers, which reading them would report.
  before.fill(0xff, before.length - 48);
  await writeFile(at('model-2.safetensors'), before);
  await expect(loadModel(folder)).rejects.toThrow(/weights must be finite/);
  const facts = await inspectModel(folder);
  expect(facts).toMatchObject({
    config,
    parameterCount: parameterCount(config),
    bytes: 4 * parameterCount(config),
    storedDtype: 'F32',
    files: [at('model-1.safetensors'), at('model-2.safetensors')],
  });
  const specs = parameterSpecs(config).map(({ name, shape }) => ({ name, shape, dtype: 'F32' }));
  expect(facts.tensors).toEqual(specs);
});

test('an LM head may repeat the tied embedding, and may not differ from it', async () => {
  await save();
  const embedding = stored().get('model.embed_tokens.weight') as TensorToWrite;
  await writeSafetensors(at(), stored().set('lm_head.weight', embedding));
  expect((await loadModel(folder)).parameters).toEqual(parameters);
  const other = { ...embedding, values: embedding.values.map((value) => value + 1) };
  await writeSafetensors(at(), stored().set('lm_head.weight', other));
  await expect(loadModel(folder)).rejects.toThrow(/tie_word_embeddings.*"lm_head.weight" differs/);
});

describe('A folder that is not a model', () => {
  test('is refused with all missing, extra and misshapen tensors at once', async () => {
    await save();
    const broken = stored();
    broken.delete('model.norm.weight');
    const zeros = (count: number) => ({ shape: [count], values: new Float32Array(count) });
    broken.set('model.layers.0.input_layernorm.weight', zeros(3));
    broken.set('adapter.weight', zeros(1));
    await writeSafetensors(at(), broken);
    await expect(loadModel(folder)).rejects.toThrow(
      /"model.layers.0.input_layernorm.weight" is \[3\]; expected \[12\].*[^]*"model.norm.weight" is missing; expected \[12\][^]*"adapter.weight" \[1\] is not part of this model/,
    );
  });

  const cutShort = async () => writeFile(at(), (await readFile(at())).subarray(0, -8));
  const shardless = async () => {
    await saveShards();
    await rm(at('model-2.safetensors'));
  };
  const indexOf = (shards: Readonly<Record<string, number>>) => async () => {
    await saveShards();
    const named = Object.entries(shards).map(([name, shard]) => [
      name,
      `model-${shard}.safetensors`,
    ]);
    await writeIndex(Object.fromEntries(named));
  };
  const elsewhere = async () => {
    await rm(at());
    await writeIndex({ a: '../../secret.safetensors' });
  };
  const holding = (name: string, values: Float32Array | Uint8Array) => () =>
    writeSafetensors(at(), stored().set(name, { shape: [values.length], values }));
  const experts = 'model.layers.0.mlp.experts';

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['no config.json', () => rm(at('config.json')), /config.json cannot be read/],
    ['a broken config.json', () => writeFile(at('config.json'), '{'), /config.json is not JSON/],
    ['no weights', () => rm(at()), /holds no weights: expected model.safetensors/],
    ['weights cut short', cutShort, /cut short/],
    ['a missing shard', shardless, /it names model-2\.safetensors, but the folder lacks/],
    [
      'a tensor that is not in its shard',
      indexOf({ 'model.norm.weight': 1, 'model.layers.0.input_layernorm.weight': 2 }),
      /places tensor "model\.norm\.weight" in model-1\.safetensors, but model-2\.safetensors holds it/,
    ],
    ['a tensor in no shard', indexOf({ absent: 1, b: 2 }), /"absent" .* no shard holds it/],
    ['weights of bytes', holding('model.norm.weight', new Uint8Array(12)), /holds bytes \(U8\)/],
    ['experts', holding(`${experts}.0.up_proj.weight`, new Float32Array(1)), /mixture of experts/],
    ['an index that points elsewhere', elsewhere, /a file in the same folder/],
  ])('is refused for %s', async (_, damage, message) => {
    await save();
    await damage();
    await expect(loadModel(folder)).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
  });
});

test('the hash of weights covers their float32 bytes, with tensors by name', () => {
  // As sha256sum gives it for 00 00 80 3f 00 00 00 40, the bytes of 1 and 2.
  const expected = 'b9c80b5adeca450753a16950c3cc655d271f7bef7a485bc83f112b72fef21d37';
  const weights = { b: Float32Array.of(2), a: Float32Array.of(1) };
  expect(weightsSha256(new Map(Object.entries(weights)))).toBe(expected);
});
