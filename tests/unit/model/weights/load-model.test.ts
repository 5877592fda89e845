import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { inspectModel, loadModel, saveModel } from '#model/weights/load-model.ts';
import type { ModelConfig } from '#model/config/architecture.ts';
import { parameterCount, parameterSpecs } from '#model/config/parameters.ts';
import { writeSafetensors, type TensorToWrite } from '#model/weights/safetensors.ts';
import { weightsSha256 } from '#model/weights/weights-sha256.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

const config = tinyModels['Qwen3 with two query heads per key head'] as ModelConfig;
const parameters = tinyWeights(config);
const untied: ModelConfig = { ...config, tiedEmbeddings: false };
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'model-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const stored = (): Map<string, TensorToWrite> =>
  new Map(
    parameterSpecs(config).map(({ name, shape }) => [
      name,
      { shape, values: parameters.get(name) as Float32Array },
    ]),
  );

const save = () => saveModel(folder, { config, parameters, storedDtype: 'F32' });
const weights = (name = 'model.safetensors') => path.join(folder, name);

test.each(Object.entries(tinyModels))(
  'the model %s is loaded as it was saved',
  async (_, model) => {
    const made = { config: model, parameters: tinyWeights(model), storedDtype: 'F32' as const };
    await saveModel(folder, made);
    expect(await loadModel(folder)).toEqual(made);
  },
);

test('the weights keep the width in which they were stored', async () => {
  await saveModel(folder, { config, parameters, storedDtype: 'BF16' });
  const loaded = await loadModel(folder);
  expect(loaded.storedDtype).toBe('BF16');
  await saveModel(folder, loaded);
  expect(weightsSha256((await loadModel(folder)).parameters)).toBe(
    weightsSha256(loaded.parameters),
  );
});

/** The model in two shards, the first with its first five tensors. */
async function saveShards(): Promise<void> {
  await save();
  const all = [...stored()];
  await rm(weights());
  await writeSafetensors(weights('model-1.safetensors'), new Map(all.slice(0, 5)));
  await writeSafetensors(weights('model-2.safetensors'), new Map(all.slice(5)));
  const map = Object.fromEntries(
    all.map(([name], i) => [name, `model-${i < 5 ? 1 : 2}.safetensors`]),
  );
  await writeIndex(map);
}

const writeIndex = (map: Readonly<Record<string, string>>) =>
  writeFile(weights('model.safetensors.index.json'), JSON.stringify({ weight_map: map }));

test('a model in shards is loaded', async () => {
  await saveShards();
  expect((await loadModel(folder)).parameters).toEqual(parameters);
});

test('a decoder without a head is loaded as Transformers stores it, without "model." in names', async () => {
  const tied = { config: { ...config, tiedEmbeddings: true }, storedDtype: 'F32' as const };
  const made = { ...tied, parameters: tinyWeights(tied.config) };
  await saveModel(folder, made);
  const bare = [...made.parameters].map(([name, values], index) => {
    const { shape } = parameterSpecs(made.config)[index]!;
    return [name.replace(/^model\./, ''), { shape, values }] as [string, TensorToWrite];
  });
  await writeSafetensors(weights(), new Map(bare));
  expect(await loadModel(folder)).toEqual(made);
});

test('a decoder is refused without the head that its config asks for', async () => {
  await saveModel(folder, { config: untied, parameters: tinyWeights(untied), storedDtype: 'F32' });
  const bare = parameterSpecs(untied).flatMap(({ name, shape }): [string, TensorToWrite][] =>
    name === 'lm_head.weight'
      ? []
      : [[name.replace(/^model\./, ''), { shape, values: tinyWeights(untied).get(name)! }]],
  );
  await writeSafetensors(weights(), new Map(bare));
  await expect(loadModel(folder)).rejects.toThrow(
    /^The weights[^\n]*\n- "lm_head.weight" is missing; expected \[\d+, \d+\]\.$/,
  );
});

test('a folder is inspected by its headers, without reading a weight', async () => {
  await saveShards();
  const before = await readFile(weights('model-2.safetensors'));
  // Weights that are not numbers, which reading them would report.
  before.fill(0xff, before.length - 48);
  await writeFile(weights('model-2.safetensors'), before);
  await expect(loadModel(folder)).rejects.toThrow(/weights must be finite/);
  const facts = await inspectModel(folder);
  expect(facts).toMatchObject({
    config,
    parameterCount: parameterCount(config),
    bytes: 4 * parameterCount(config),
    storedDtype: 'F32',
    files: [weights('model-1.safetensors'), weights('model-2.safetensors')],
  });
  expect(facts.tensors).toEqual(
    parameterSpecs(config).map(({ name, shape }) => ({ name, shape, dtype: 'F32' })),
  );
});

test('an LM head may repeat the tied embedding, and may not differ from it', async () => {
  await save();
  const embedding = stored().get('model.embed_tokens.weight') as TensorToWrite;
  await writeSafetensors(weights(), stored().set('lm_head.weight', embedding));
  expect((await loadModel(folder)).parameters).toEqual(parameters);
  const other = { ...embedding, values: embedding.values.map((value) => value + 1) };
  await writeSafetensors(weights(), stored().set('lm_head.weight', other));
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
    await writeSafetensors(weights(), broken);
    await expect(loadModel(folder)).rejects.toThrow(
      /"model.layers.0.input_layernorm.weight" is \[3\]; expected \[12\].*[^]*"model.norm.weight" is missing; expected \[12\][^]*"adapter.weight" \[1\] is not part of this model/,
    );
  });

  test.each([
    ['no config.json', () => rm(weights('config.json')), /config.json cannot be read/],
    [
      'a broken config.json',
      () => writeFile(weights('config.json'), '{'),
      /config.json is not JSON/,
    ],
    ['no weights', async () => rm(weights()), /holds no weights: expected model.safetensors/],
    [
      'weights cut short',
      async () => writeFile(weights(), (await readFile(weights())).subarray(0, -8)),
      /cut short/,
    ],
    [
      'a missing shard',
      async () => {
        await saveShards();
        await rm(weights('model-2.safetensors'));
      },
      /index\.json: it names model-2\.safetensors, but the folder lacks/,
    ],
    [
      'a tensor that is not in its shard',
      async () => {
        await saveShards();
        await writeIndex({
          'model.norm.weight': 'model-1.safetensors',
          'model.layers.0.input_layernorm.weight': 'model-2.safetensors',
        });
      },
      /it places tensor "model\.norm\.weight" in model-1\.safetensors, but model-2\.safetensors holds it/,
    ],
    [
      'a tensor that is in no shard',
      async () => {
        await saveShards();
        await writeIndex({ absent: 'model-1.safetensors', b: 'model-2.safetensors' });
      },
      /it places tensor "absent" in model-1\.safetensors, but no shard holds it/,
    ],
    [
      'weights that are bytes',
      async () => {
        const bytes = { shape: [12], values: new Uint8Array(12) };
        await writeSafetensors(weights(), stored().set('model.norm.weight', bytes));
      },
      /"model\.norm\.weight" holds bytes \(U8\); expected F32, F16 or BF16/,
    ],
    [
      'experts',
      async () => {
        const expert = { shape: [1], values: new Float32Array(1) };
        const name = 'model.layers.0.mlp.experts.0.up_proj.weight';
        await writeSafetensors(weights(), stored().set(name, expert));
      },
      /mixture of experts \("model\.layers\.0\.mlp\.experts\.0\.up_proj\.weight"\)/,
    ],
    [
      'an index that points elsewhere',
      async () => {
        await rm(weights());
        await writeIndex({ a: '../../secret.safetensors' });
      },
      /weight_map must give each tensor the name of a file in its folder/,
    ],
  ])('is refused for %s', async (_, damage, message) => {
    await save();
    await damage();
    await expect(loadModel(folder)).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
  });
});

test('the hash of weights covers their float32 bytes, with tensors by name', () => {
  // As sha256sum gives it for 00 00 80 3f 00 00 00 40, the bytes of 1 and 2.
  const expected = 'b9c80b5adeca450753a16950c3cc655d271f7bef7a485bc83f112b72fef21d37';
  const [one, two] = [Float32Array.of(1), Float32Array.of(2)];
  const pairs: [string, Float32Array][] = [
    ['b', two],
    ['a', one],
  ];
  expect(weightsSha256(new Map(pairs))).toBe(expected);
});
