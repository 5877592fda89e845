import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { loadModel, saveModel } from '../../../model/load-model.ts';
import type { ModelConfig } from '../../../model/model-config.ts';
import { parameterSpecs } from '../../../model/parameters.ts';
import { writeSafetensors, type TensorToWrite } from '../../../model/safetensors.ts';
import { weightsSha256 } from '../../../model/weights-sha256.ts';
import { tinyModels, tinyWeights } from '../../support/tiny-models.ts';

const config = tinyModels['Qwen3 with two query heads per key head'] as ModelConfig;
const parameters = tinyWeights(config);
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

test.each(Object.entries(tinyModels))('loads %s as it was saved', async (_, model) => {
  const made = { config: model, parameters: tinyWeights(model), storedDtype: 'F32' as const };
  await saveModel(folder, made);
  expect(await loadModel(folder)).toEqual(made);
});

test('keeps the width the weights were stored in', async () => {
  await saveModel(folder, { config, parameters, storedDtype: 'BF16' });
  const loaded = await loadModel(folder);
  expect(loaded.storedDtype).toBe('BF16');
  await saveModel(folder, loaded);
  expect(weightsSha256((await loadModel(folder)).parameters)).toBe(
    weightsSha256(loaded.parameters),
  );
});

test('loads a model in shards', async () => {
  await save();
  const all = [...stored()];
  await rm(weights());
  await writeSafetensors(weights('model-1.safetensors'), new Map(all.slice(0, 5)));
  await writeSafetensors(weights('model-2.safetensors'), new Map(all.slice(5)));
  const map = Object.fromEntries(
    all.map(([name], i) => [name, `model-${i < 5 ? 1 : 2}.safetensors`]),
  );
  await writeFile(weights('model.safetensors.index.json'), JSON.stringify({ weight_map: map }));
  expect((await loadModel(folder)).parameters).toEqual(parameters);
});

test('accepts an LM head that repeats the tied embedding, and refuses another', async () => {
  await save();
  const embedding = stored().get('model.embed_tokens.weight') as TensorToWrite;
  await writeSafetensors(weights(), stored().set('lm_head.weight', embedding));
  expect((await loadModel(folder)).parameters).toEqual(parameters);
  const other = { ...embedding, values: embedding.values.map((value) => value + 1) };
  await writeSafetensors(weights(), stored().set('lm_head.weight', other));
  await expect(loadModel(folder)).rejects.toThrow(/tie_word_embeddings.*"lm_head.weight" differs/);
});

describe('a folder that is no model', () => {
  test('is refused with every missing, extra and misshapen tensor at once', async () => {
    await save();
    const broken = stored();
    broken.delete('model.norm.weight');
    broken.set('model.layers.0.input_layernorm.weight', {
      shape: [3],
      values: new Float32Array(3),
    });
    broken.set('adapter.weight', { shape: [1], values: new Float32Array(1) });
    await writeSafetensors(weights(), broken);
    await expect(loadModel(folder)).rejects.toThrow(
      /"model.layers.0.input_layernorm.weight" is \[3\]; expected \[12\].*[^]*"model.norm.weight" is missing; expected \[12\][^]*"adapter.weight" \[1\] is not part of this model/,
    );
  });

  test.each([
    [
      'no config.json',
      async () => rm(path.join(folder, 'config.json')),
      /config.json cannot be read/,
    ],
    [
      'a broken config.json',
      async () => writeFile(path.join(folder, 'config.json'), '{'),
      /config.json is not JSON/,
    ],
    ['no weights', async () => rm(weights()), /holds no weights: expected model.safetensors/],
    [
      'weights cut short',
      async () => writeFile(weights(), (await readFile(weights())).subarray(0, -8)),
      /cut short/,
    ],
    [
      'an index that points elsewhere',
      async () => {
        await rm(weights());
        await writeFile(
          weights('model.safetensors.index.json'),
          '{"weight_map": {"a": "../../secret.safetensors"}}',
        );
      },
      /weight_map must give each tensor the name of a file beside it/,
    ],
  ])('is refused for %s', async (_, damage, message) => {
    await save();
    await damage();
    await expect(loadModel(folder)).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringMatching(message),
    });
  });
});

test('the hash of weights is that of their float32 bytes, tensors by name', () => {
  // As sha256sum gives it for 00 00 80 3f 00 00 00 40, the bytes of 1 and 2.
  const expected = 'b9c80b5adeca450753a16950c3cc655d271f7bef7a485bc83f112b72fef21d37';
  const [one, two] = [Float32Array.of(1), Float32Array.of(2)];
  expect(
    weightsSha256(
      new Map([
        ['b', two],
        ['a', one],
      ]),
    ),
  ).toBe(expected);
});
