import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Adapter } from '#model/config/architecture.ts';
import { adapterSpecs } from '#model/adapters/adapter.ts';
import { readAdapterConfig, writeAdapter } from '#model/adapters/adapter-files.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { adapterFolders, modelLayers, openModel } from '#model/weights/open-model.ts';
import { sizeOf } from '#agent_rl/engine/check-inputs.ts';
import { readJson } from '#model/config/read-json.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { saveTinyAdapter, tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

const folder = temporaryFolder();
const config = tinyModels['Qwen3 with two query heads per key head']!;
const base = join(folder, 'base');
const own = join(folder, 'own');

let folders = 0;
const fresh = (): string => join(folder, `adapter-${(folders += 1)}`);

const configOf = async (of: string) =>
  (await readJson(join(of, 'adapter_config.json'), 'MODEL_INVALID')) as Record<string, unknown>;

beforeAll(async () => {
  await saveModel(base, { config, parameters: tinyWeights(config), storedDtype: 'F32' });
  await saveTinyAdapter(own, config, { baseModel: base });
});

describe('An adapter on an adapter', () => {
  const second: Adapter = { ...tinyAdapter, name: 'adapter_1', rank: 2 };
  const writeOver = async (under: readonly string[], baseModel = base): Promise<string> => {
    const to = fresh();
    const parameters = tinyAdapterWeights(config, second);
    await writeAdapter(to, config, { adapter: second, parameters, baseModel, under });
    return to;
  };

  test("records what it was trained on beside PEFT's files", async () => {
    const over = await writeOver([own]);
    expect(Object.keys(await configOf(over))).toEqual(Object.keys(await configOf(own)));
    expect(await readJson(join(over, 'trained-over.json'), 'MODEL_INVALID')).toEqual({
      adapters: [own],
    });
    expect((await readAdapterConfig(over, 'x')).under).toEqual([own]);
  });

  test('is opened after the adapter under it, however the two are named', async () => {
    const over = await writeOver([own]);
    const layers = { base, adapters: [own, over] };
    expect(await modelLayers({ folder: over })).toEqual(layers);
    expect(await modelLayers({ folder: base, adapters: [over] })).toEqual(layers);
    expect(await modelLayers({ folder: base, adapters: [own, over] })).toEqual(layers);
    expect(await modelLayers({ folder: own, adapters: [over] })).toEqual(layers);
    const { config: opened, parameters } = await openModel({ folder: over });
    expect(opened.adapters).toEqual([{ ...tinyAdapter, name: 'adapter_0' }, second]);
    const first = tinyAdapterWeights(config);
    const last = tinyAdapterWeights(config, second);
    for (const { name } of adapterSpecs(config, second)) {
      expect(parameters.get(name)).toEqual(last.get(name));
      const below = parameters.get(name.replace('adapter_1', 'adapter_0'));
      expect(below).toEqual(first.get(name.replace('adapter_1', 'tiny')));
    }
  });

  test('may carry a new adapter', async () => {
    const { name: _, ...rest } = { ...tinyAdapter, rank: 1 };
    const newAdapter = { ...rest, seed: 7 };
    const { config: opened, parameters } = await openModel({ folder: own, newAdapter });
    expect(opened.adapters?.map(({ name, rank }) => [name, rank])).toEqual([
      ['adapter_0', 3],
      ['adapter_1', 1],
    ]);
    const added = adapterSpecs(config, { ...tinyAdapter, name: 'adapter_1', rank: 1 });
    for (const { name, shape } of added) expect(parameters.get(name)).toHaveLength(sizeOf(shape));
    const again = await openModel({ folder: own, newAdapter: { ...newAdapter, seed: 8 } });
    const name = 'model.layers.0.mlp.up_proj.lora_A.adapter_1.weight';
    expect(parameters.get(name)).not.toEqual(again.parameters.get(name));
    const rng = new KeyedRng(7, 'new adapter').child('adapter', name);
    const bound = 1 / Math.sqrt(12);
    expect(parameters.get(name)?.[0]).toBe(Math.fround(bound * (2 * rng.uniform() - 1)));
  });

  test('may not be named twice', async () => {
    for (const opening of [
      modelLayers({ folder: own, adapters: [own] }),
      modelLayers({ folder: base, adapters: [own, join(own, '.')] }),
    ])
      await expect(opening).rejects.toMatchObject(
        errorOf('MODEL_INVALID', `${own} is named twice`),
      );
  });

  test('is refused if the adapter under it is missing or recorded wrongly', async () => {
    const over = await writeOver([join(folder, 'gone')]);
    const missing = `${join(folder, 'gone')} does not exist. ${over} was trained on it.`;
    for (const opening of [modelLayers({ folder: over }), adapterFolders([over])])
      await expect(opening).rejects.toMatchObject(errorOf('MODEL_INVALID', missing));
    writeBelow(over, 'trained-over.json', '{"adapters": "own"}');
    await expect(readAdapterConfig(over, 'x')).rejects.toThrow(
      /trained-over\.json must hold.*got \{"adapters":"own"\}/,
    );
  });
});

describe('The model under an adapter', () => {
  test('is found where the config of the adapter says, also relative to it', async () => {
    expect(await modelLayers({ folder: own })).toEqual({ base, adapters: [own] });
    const beside = join(base, 'lora');
    await saveTinyAdapter(beside, config, { baseModel: '..' });
    expect((await modelLayers({ folder: beside })).adapters).toEqual([beside]);
    rmSync(beside, { recursive: true });
  });

  test.each(['elsewhere', ''])('is named in the error if it is missing: %j', async (baseModel) => {
    const to = fresh();
    await saveTinyAdapter(to, config, { baseModel });
    const named =
      baseModel === '' ? /an unnamed model.*model\.adapters/ : /elsewhere.*model\.adapters/;
    await expect(openModel({ folder: to })).rejects.toMatchObject(errorOf('MODEL_INVALID', named));
    // With its model named it is an adapter like others.
    const { layers } = await openModel({ folder: base, adapters: [to] });
    expect(layers).toEqual({ base, adapters: [to] });
  });

  test('must be a folder with one of the two configs', async () => {
    const empty = join(folder, 'neither');
    writeBelow(empty, 'notes.txt', '');
    await expect(modelLayers({ folder: empty })).rejects.toThrow('neither a model');
  });
});
