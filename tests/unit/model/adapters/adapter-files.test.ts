import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { linearModules } from '#agent_rl/core/services/linear-module.ts';
import { sizeOf } from '#agent_rl/engine/check-inputs.ts';
import type { Adapter } from '#model/config/architecture.ts';
import { adapterSpecs, adapterTargets } from '#model/adapters/adapter.ts';
import * as files from '#model/adapters/adapter-files.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { adapterFolders, modelLayers, openModel } from '#model/weights/open-model.ts';
import { readJson } from '#model/config/read-json.ts';
import { SafetensorsFile, writeSafetensors } from '#model/weights/safetensors.ts';
import * as fc from '#tests/support/properties.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { saveTinyAdapter, tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

const { holdsAdapter, readAdapterConfig, readAdapterWeights, writeAdapter } = files;
const folder = temporaryFolder();
const config = tinyModels['Qwen3 with two query heads per key head']!;
const base = join(folder, 'base');
const own = join(folder, 'own');
const prefix = 'base_model.model.model.layers';

let folders = 0;
const fresh = (): string => join(folder, `adapter-${(folders += 1)}`);

const configOf = async (of: string) =>
  (await readJson(join(of, 'adapter_config.json'), 'MODEL_INVALID')) as Record<string, unknown>;

/** An adapter whose config says something else, or only this. */
async function changed(changes: object | string): Promise<string> {
  const to = fresh();
  await saveTinyAdapter(to, config);
  const text = JSON.stringify({ ...(await configOf(to)), ...Object(changes) });
  writeBelow(to, 'adapter_config.json', typeof changes === 'string' ? changes : text);
  return to;
}

async function tensorsOf(of: string) {
  const file = await SafetensorsFile.open(join(of, 'adapter_model.safetensors'));
  const tensors = new Map<string, { shape: readonly number[]; values: Float32Array }>();
  for (const entry of file.entries)
    tensors.set(entry.name, { shape: entry.shape, values: await file.readFloats(entry) });
  await file.close();
  return tensors;
}

beforeAll(async () => {
  await saveModel(base, { config, parameters: tinyWeights(config), storedDtype: 'F32' });
  await saveTinyAdapter(own, config, { baseModel: base });
});

describe('A written adapter', () => {
  test("has PEFT's files, names and shapes, and a config with PEFT's keys only", async () => {
    const names = ['adapter_config.json', 'adapter_model.safetensors'];
    expect(readdirSync(own).toSorted()).toEqual(names);
    const tensors = await tensorsOf(own);
    expect(tensors.size).toBe(2 * 7 * 2);
    expect(tensors.get(`${prefix}.1.self_attn.q_proj.lora_A.weight`)?.shape).toEqual([3, 12]);
    expect(tensors.get(`${prefix}.1.self_attn.q_proj.lora_B.weight`)?.shape).toEqual([16, 3]);
    expect(tensors.get(`${prefix}.0.mlp.down_proj.lora_A.weight`)?.shape).toEqual([3, 20]);
    expect(tensors.get(`${prefix}.0.mlp.down_proj.lora_B.weight`)?.shape).toEqual([12, 3]);
    expect(await configOf(own)).toEqual({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      base_model_name_or_path: base,
      r: 3,
      lora_alpha: 6,
      lora_dropout: 0.1,
      use_rslora: false,
      target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
      bias: 'none',
      fan_in_fan_out: false,
      inference_mode: true,
      init_lora_weights: true,
      modules_to_save: null,
    });
  });

  test('is read back bit for bit', async () => {
    const any = fc.record({
      name: fc.constant('any'),
      rank: fc.integer({ min: 1, max: 5 }),
      alpha: fc.double({ min: 0.01, max: 64, noNaN: true }),
      dropout: fc.double({ min: 0, max: 0.99, noNaN: true }),
      rankStabilised: fc.boolean(),
      targets: fc.subarray([...linearModules], { minLength: 1 }),
    });
    await fc.assert(
      fc.asyncProperty(any, async (adapter) => {
        const parameters = tinyAdapterWeights(config, adapter);
        const to = fresh();
        await writeAdapter(to, config, { adapter, parameters, baseModel: base });
        expect(holdsAdapter(to)).toBe(true);
        const read = await readAdapterConfig(to, 'any');
        expect(read).toEqual({ adapter, baseModel: base, under: [] });
        const back = await readAdapterWeights(to, config, read.adapter);
        expect([...back]).toEqual([...parameters]);
      }),
      { numRuns: 15 },
    );
  });

  test('needs all of its tensors', async () => {
    const parameters = tinyAdapterWeights(config);
    parameters.delete('model.layers.1.mlp.up_proj.lora_B.tiny.weight');
    const parts = { adapter: tinyAdapter, parameters, baseModel: base };
    await expect(writeAdapter(fresh(), config, parts)).rejects.toThrow('1.mlp.up_proj.lora_B');
  });
});

describe('An adapter of PEFT', () => {
  test('may name its targets all-linear or in full, and omit defaults', async () => {
    const all = await readAdapterConfig(await changed({ target_modules: 'all-linear' }), 'x');
    expect(all.adapter.targets).toEqual(linearModules);
    const some = await changed({ target_modules: ['v_proj', 'mlp.up_proj'] });
    const { adapter } = await readAdapterConfig(some, 'x');
    expect(adapter.targets).toEqual(['self_attn.v_proj', 'mlp.up_proj']);
    const json = { peft_type: 'LORA', r: 2, lora_alpha: 4, target_modules: ['q_proj'] };
    const least = await readAdapterConfig(await changed(JSON.stringify(json)), 'x');
    const targets = adapterTargets(['q_proj']);
    expect(least).toEqual({
      adapter: { name: 'x', rank: 2, alpha: 4, dropout: 0, rankStabilised: false, targets },
      baseModel: undefined,
      under: [],
    });
  });

  test('may have settings that change nothing', async () => {
    const empty = { rank_pattern: {}, alpha_pattern: {}, loftq_config: {}, modules_to_save: [] };
    const off = { use_dora: false, lora_bias: false, layers_to_transform: null };
    const other = { init_lora_weights: 'gaussian', peft_version: '0.21.2', future: null };
    const to = await changed({ ...empty, ...off, ...other });
    expect((await readAdapterConfig(to, 'x')).adapter.rank).toBe(3);
  });

  test('may carry the name of an adapter in its tensors', async () => {
    const to = fresh();
    const stored = [...(await tensorsOf(own))];
    const named = stored.map(
      ([name, tensor]) => [name.replace(/\.weight$/, '.default.weight'), tensor] as const,
    );
    await saveTinyAdapter(to, config);
    const file = join(to, 'adapter_model.safetensors');
    await writeSafetensors(file, new Map(named), { dtype: 'F32' });
    expect(await readAdapterWeights(to, config, tinyAdapter)).toEqual(tinyAdapterWeights(config));
  });

  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    use_dora: [true],
    bias: ['all'],
    modules_to_save: [['lm_head']],
    rank_pattern: [{ q_proj: 4 }],
    alpha_pattern: [{ q_proj: 4 }],
    layers_to_transform: [[0]],
    layers_pattern: ['layers'],
    layer_replication: [[[0, 2]]],
    exclude_modules: [['k_proj']],
    target_parameters: [['mlp.experts.gate_up_proj']],
    trainable_token_indices: [[5]],
    fan_in_fan_out: [true],
    lora_bias: [true],
    alora_invocation_tokens: [[1]],
    use_qalora: [true],
    init_lora_weights: ['pissa', 'olora'],
    peft_type: ['IA3'],
    target_modules: [['q_proj', 'lm_head'], ['embed_tokens'], '.*_proj', [], null],
    r: [0, 1.5, null],
    lora_alpha: [0, '16'],
    lora_dropout: [1, null],
  };
  test.each(
    Object.entries(wrong).flatMap(([key, values]) => values.map((value) => [key, value] as const)),
  )('is refused by name if it has %s %j', async (key, value) => {
    const reading = readAdapterConfig(await changed({ [key]: value }), 'x');
    const problem = new RegExp(`adapter_config.json is not an adapter.*\\n- ${key} [^\\n]*$`);
    await expect(reading).rejects.toMatchObject(errorOf('MODEL_INVALID', problem));
  });

  test('is refused with all of its problems at once', async () => {
    const to = await changed({ use_dora: true, bias: 'all', r: -1, target_modules: ['lm_head'] });
    const { message } = await rejectionOf(readAdapterConfig(to, 'x'));
    expect(message.match(/^- (\w+)/gm)?.join(' ')).toBe('- bias - use_dora - r - target_modules');
  });

  test.each([
    ['{', 'is not JSON'],
    ['[]', 'it is not an object'],
  ])('is refused if its config is %s', async (text, message) => {
    const reading = readAdapterConfig(await changed(text), 'x');
    await expect(reading).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
  });
});

describe('The weights of an adapter', () => {
  const refused = async (of: string, model = config): Promise<string> => {
    const error = await rejectionOf(readAdapterWeights(of, model, tinyAdapter));
    expect(error.code).toBe('MODEL_INVALID');
    return error.message;
  };

  test.each([
    [{ hiddenSize: 16 }, '0', 'is [3, 12]; for this model it must be [3, 16].'],
    [{ layers: 3 }, '2', 'is missing; expected [3, 12].'],
    [{ layers: 1 }, '1', 'is not part of this adapter.'],
  ])('must fit a model of %j, tensor by tensor', async (size, layer, problem) => {
    const tensor = `"${prefix}.${layer}.self_attn.q_proj.lora_A.weight"`;
    expect(await refused(own, { ...config, ...size })).toContain(`${tensor} ${problem}`);
  });

  test('must be finite', async () => {
    const to = fresh();
    const parameters = tinyAdapterWeights(config);
    parameters.get('model.layers.0.mlp.up_proj.lora_B.tiny.weight')![4] = Number.NaN;
    await writeAdapter(to, config, { adapter: tinyAdapter, parameters, baseModel: base });
    const problem = '.0.mlp.up_proj.lora_B.weight" holds values that are not finite numbers';
    expect(await refused(to)).toContain(problem);
  });

  test('must exist as safetensors', async () => {
    const to = fresh();
    await saveTinyAdapter(to, config);
    rmSync(join(to, 'adapter_model.safetensors'));
    expect(await refused(to)).toMatch(/holds no adapter_model\.safetensors\.$/);
    writeBelow(to, 'adapter_model.bin', 'pickled');
    expect(await refused(to)).toMatch(/adapter_model\.bin is a pickle.*safe_serialization=True/);
  });
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
    const under = await readJson(join(over, 'trained-over.json'), 'MODEL_INVALID');
    expect(under).toEqual({ adapters: [own] });
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
    const { name: _, ...newAdapter } = { ...tinyAdapter, rank: 1, seed: 7 };
    const { config: opened, parameters } = await openModel({ folder: own, newAdapter });
    const ranks = opened.adapters?.map(({ name: of, rank }) => `${of} ${rank}`);
    expect(ranks).toEqual(['adapter_0 3', 'adapter_1 1']);
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
    const twice = errorOf('MODEL_INVALID', `${own} is listed twice`);
    const last = modelLayers({ folder: base, adapters: [own, join(own, '.')] });
    await expect(modelLayers({ folder: own, adapters: [own] })).rejects.toMatchObject(twice);
    await expect(last).rejects.toMatchObject(twice);
  });

  test('is refused if the adapter under it is missing or recorded wrongly', async () => {
    const over = await writeOver([join(folder, 'gone')]);
    const missing = `${join(folder, 'gone')} does not exist. The adapter in ${over} was trained on top of it.`;
    for (const opening of [modelLayers({ folder: over }), adapterFolders([over])])
      await expect(opening).rejects.toMatchObject(errorOf('MODEL_INVALID', missing));
    writeBelow(over, 'trained-over.json', '{"adapters": "own"}');
    const wrong = /trained-over\.json must list.*got \{"adapters":"own"\}/;
    await expect(readAdapterConfig(over, 'x')).rejects.toThrow(wrong);
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
