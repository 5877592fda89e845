import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { linearModules } from '../../../agent_rl/core/linear-module.ts';
import { adapterSpecs, adapterTargets, type Adapter } from '../../../model/adapter.ts';
import {
  holdsAdapter,
  readAdapterConfig,
  readAdapterWeights,
  writeAdapter,
} from '../../../model/adapter-files.ts';
import { saveModel } from '../../../model/load-model.ts';
import { adapterFolders, modelLayers, openModel } from '../../../model/open-model.ts';
import { elementCount } from '../../../model/parameters.ts';
import { readJson } from '../../../model/read-json.ts';
import { SafetensorsFile, writeSafetensors } from '../../../model/safetensors.ts';
import { temporaryFolder, writeBelow } from '../../support/temporary-folder.ts';
import { rejectionOf } from '../../support/thrown.ts';
import { saveTinyAdapter, tinyAdapter, tinyAdapterWeights } from '../../support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '../../support/tiny-models.ts';

const folder = temporaryFolder();
const config = tinyModels['Qwen3 with two query heads per key head']!;
const base = join(folder, 'base');
const own = join(folder, 'own');
const prefix = 'base_model.model.model.layers';

let folders = 0;
const fresh = (): string => join(folder, `adapter-${(folders += 1)}`);

const configOf = async (of: string) =>
  (await readJson(join(of, 'adapter_config.json'), 'MODEL_INVALID')) as Record<string, unknown>;

/** An adapter whose config says something else. */
async function changed(changes: Readonly<Record<string, unknown>>): Promise<string> {
  const to = fresh();
  await saveTinyAdapter(to, config);
  const json = { ...(await configOf(to)), ...changes };
  writeBelow(to, 'adapter_config.json', JSON.stringify(json));
  return to;
}

async function tensorsOf(of: string) {
  const file = await SafetensorsFile.open(join(of, 'adapter_model.safetensors'));
  try {
    return new Map(
      await Promise.all(
        file.entries.map(
          async (entry) =>
            [
              entry.name,
              { shape: [...entry.shape], values: await file.readFloats(entry) },
            ] as const,
        ),
      ),
    );
  } finally {
    await file.close();
  }
}

beforeAll(async () => {
  await saveModel(base, { config, parameters: tinyWeights(config), storedDtype: 'F32' });
  await saveTinyAdapter(own, config, { baseModel: base });
});

describe('an adapter that is written', () => {
  test("has PEFT's files, names and shapes", async () => {
    expect(readdirSync(own).toSorted()).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
    ]);
    const tensors = await tensorsOf(own);
    expect(tensors.size).toBe(2 * 7 * 2);
    expect(tensors.get(`${prefix}.1.self_attn.q_proj.lora_A.weight`)?.shape).toEqual([3, 12]);
    expect(tensors.get(`${prefix}.1.self_attn.q_proj.lora_B.weight`)?.shape).toEqual([16, 3]);
    expect(tensors.get(`${prefix}.0.mlp.down_proj.lora_A.weight`)?.shape).toEqual([3, 20]);
    expect(tensors.get(`${prefix}.0.mlp.down_proj.lora_B.weight`)?.shape).toEqual([12, 3]);
  });

  test("has a config of PEFT's keys alone", async () => {
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

  test('is read back bit for bit, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          rank: fc.integer({ min: 1, max: 5 }),
          alpha: fc.double({ min: 0.01, max: 64, noNaN: true }),
          dropout: fc.double({ min: 0, max: 0.99, noNaN: true }),
          rankStabilised: fc.boolean(),
          targets: fc.subarray([...linearModules], { minLength: 1 }),
        }),
        async (parts) => {
          const adapter: Adapter = { ...parts, name: 'any' };
          const weights = tinyAdapterWeights(config, adapter);
          const to = fresh();
          await writeAdapter(to, config, { adapter, parameters: weights, baseModel: base });
          expect(holdsAdapter(to)).toBe(true);
          const read = await readAdapterConfig(to, 'any');
          expect(read).toEqual({ adapter, baseModel: base, under: [] });
          const back = await readAdapterWeights(to, config, read.adapter);
          expect([...back.keys()]).toEqual([...weights.keys()]);
          for (const [name, values] of weights) expect(back.get(name)).toEqual(values);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('needs all its tensors', async () => {
    const parameters = tinyAdapterWeights(config);
    parameters.delete('model.layers.1.mlp.up_proj.lora_B.tiny.weight');
    const written = writeAdapter(fresh(), config, {
      adapter: tinyAdapter,
      parameters,
      baseModel: base,
    });
    expect((await rejectionOf(written)).message).toContain('layers.1.mlp.up_proj.lora_B');
  });
});

describe('an adapter of PEFT', () => {
  test('may name its targets all-linear or by whole names, and leave out what is as usual', async () => {
    const all = await readAdapterConfig(await changed({ target_modules: 'all-linear' }), 'x');
    expect(all.adapter.targets).toEqual(linearModules);
    const some = await changed({ target_modules: ['v_proj', 'mlp.up_proj'] });
    const { adapter } = await readAdapterConfig(some, 'x');
    expect(adapter.targets).toEqual(['self_attn.v_proj', 'mlp.up_proj']);
    const least = fresh();
    const json = { peft_type: 'LORA', r: 2, lora_alpha: 4, target_modules: ['q_proj'] };
    writeBelow(least, 'adapter_config.json', JSON.stringify(json));
    expect(await readAdapterConfig(least, 'x')).toEqual({
      adapter: {
        name: 'x',
        rank: 2,
        alpha: 4,
        dropout: 0,
        rankStabilised: false,
        targets: adapterTargets(['q_proj']),
      },
      baseModel: undefined,
      under: [],
    });
  });

  test('may say what changes nothing', async () => {
    const to = await changed({
      init_lora_weights: 'gaussian',
      rank_pattern: {},
      alpha_pattern: {},
      loftq_config: {},
      use_dora: false,
      modules_to_save: [],
      layers_to_transform: null,
      lora_bias: false,
      peft_version: '0.21.2',
      a_key_of_the_future: null,
    });
    expect((await readAdapterConfig(to, 'x')).adapter.rank).toBe(3);
  });

  test('may carry the name of an adapter in its tensors', async () => {
    const to = fresh();
    await saveTinyAdapter(to, config);
    const named = [...(await tensorsOf(to))].map(
      ([name, tensor]) => [name.replace(/\.weight$/, '.default.weight'), tensor] as const,
    );
    const file = join(to, 'adapter_model.safetensors');
    await writeSafetensors(file, new Map(named), { dtype: 'F32' });
    expect(await readAdapterWeights(to, config, tinyAdapter)).toEqual(tinyAdapterWeights(config));
  });

  test.each<[string, unknown]>([
    ['use_dora', true],
    ['bias', 'all'],
    ['modules_to_save', ['lm_head']],
    ['rank_pattern', { q_proj: 4 }],
    ['alpha_pattern', { q_proj: 4 }],
    ['layers_to_transform', [0]],
    ['layers_pattern', 'layers'],
    ['layer_replication', [[0, 2]]],
    ['exclude_modules', ['k_proj']],
    ['target_parameters', ['mlp.experts.gate_up_proj']],
    ['trainable_token_indices', [5]],
    ['fan_in_fan_out', true],
    ['lora_bias', true],
    ['alora_invocation_tokens', [1]],
    ['use_qalora', true],
    ['init_lora_weights', 'pissa'],
    ['init_lora_weights', 'olora'],
    ['peft_type', 'IA3'],
    ['target_modules', ['q_proj', 'lm_head']],
    ['target_modules', ['embed_tokens']],
    ['target_modules', String.raw`.*\.(q|v)_proj`],
    ['target_modules', []],
    ['target_modules', null],
    ['r', 0],
    ['r', 1.5],
    ['r', null],
    ['lora_alpha', 0],
    ['lora_alpha', '16'],
    ['lora_dropout', 1],
    ['lora_dropout', null],
  ])('is refused by name where it has %s %j', async (key, value) => {
    const { code, message } = await rejectionOf(
      readAdapterConfig(await changed({ [key]: value }), 'x'),
    );
    expect(code).toBe('MODEL_INVALID');
    expect(message.split('\n')).toHaveLength(2);
    expect(message).toMatch(
      new RegExp(String.raw`adapter_config\.json is no adapter.*\n- ${key} `),
    );
  });

  test('is told all that is wrong with it at once', async () => {
    const to = await changed({ use_dora: true, bias: 'all', r: -1, target_modules: ['lm_head'] });
    const { message } = await rejectionOf(readAdapterConfig(to, 'x'));
    expect(message.match(/^- (\w+)/gm)).toEqual([
      '- bias',
      '- use_dora',
      '- r',
      '- target_modules',
    ]);
  });

  test.each([
    ['no JSON', '{', 'is not JSON'],
    ['no object', '[]', 'it is no object'],
  ])('is refused when its config is %s', async (_, text, message) => {
    const to = fresh();
    writeBelow(to, 'adapter_config.json', text);
    const error = await rejectionOf(readAdapterConfig(to, 'x'));
    expect([error.code, error.message]).toEqual([
      'MODEL_INVALID',
      expect.stringContaining(message),
    ]);
  });
});

describe('the weights of an adapter are refused', () => {
  const refused = async (of: string, model = config): Promise<string> => {
    const error = await rejectionOf(readAdapterWeights(of, model, tinyAdapter));
    expect(error.code).toBe('MODEL_INVALID');
    return error.message;
  };

  test('on a model of another width or depth, tensor by tensor', async () => {
    const wide = await refused(own, { ...config, hiddenSize: 16 });
    expect(wide).toContain(
      `"${prefix}.0.self_attn.q_proj.lora_A.weight" is [3, 12]; on this model expected [3, 16].`,
    );
    expect(await refused(own, { ...config, layers: 3 })).toContain(
      `"${prefix}.2.self_attn.q_proj.lora_A.weight" is missing; expected [3, 12].`,
    );
    expect(await refused(own, { ...config, layers: 1 })).toContain(
      `"${prefix}.1.self_attn.q_proj.lora_A.weight" is not part of this adapter.`,
    );
  });

  test('where a value is no number', async () => {
    const to = fresh();
    const parameters = tinyAdapterWeights(config);
    parameters.get('model.layers.0.mlp.up_proj.lora_B.tiny.weight')![4] = Number.NaN;
    await writeAdapter(to, config, { adapter: tinyAdapter, parameters, baseModel: base });
    expect(await refused(to)).toContain(
      `"${prefix}.0.mlp.up_proj.lora_B.weight" holds values that are no finite numbers`,
    );
  });

  test('where there is only a pickle, or nothing', async () => {
    const to = fresh();
    await saveTinyAdapter(to, config);
    rmSync(join(to, 'adapter_model.safetensors'));
    expect(await refused(to)).toMatch(/holds no adapter_model\.safetensors\.$/);
    writeBelow(to, 'adapter_model.bin', 'pickled');
    expect(await refused(to)).toMatch(/adapter_model\.bin is a pickle.*safe_serialization=True/);
  });
});

describe('an adapter over an adapter', () => {
  const second: Adapter = { ...tinyAdapter, name: 'adapter_1', rank: 2 };
  const writeOver = async (under: readonly string[], baseModel = base): Promise<string> => {
    const to = fresh();
    const parameters = tinyAdapterWeights(config, second);
    await writeAdapter(to, config, { adapter: second, parameters, baseModel, under });
    return to;
  };

  test("says so beside PEFT's files", async () => {
    const over = await writeOver([own]);
    expect(Object.keys(await configOf(over))).toEqual(Object.keys(await configOf(own)));
    expect(await readJson(join(over, 'trained-over.json'), 'MODEL_INVALID')).toEqual({
      adapters: [own],
    });
    expect((await readAdapterConfig(over, 'x')).under).toEqual([own]);
  });

  test('is opened with what is under it, once and before it, however it is named', async () => {
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

  test('may have a new one over it', async () => {
    const { name: _, ...rest } = { ...tinyAdapter, rank: 1 };
    const newAdapter = { ...rest, seed: 7 };
    const { config: opened, parameters } = await openModel({ folder: own, newAdapter });
    expect(opened.adapters?.map(({ name, rank }) => [name, rank])).toEqual([
      ['adapter_0', 3],
      ['adapter_1', 1],
    ]);
    const added = adapterSpecs(config, { ...tinyAdapter, name: 'adapter_1', rank: 1 });
    for (const { name, shape } of added)
      expect(parameters.get(name)).toHaveLength(elementCount(shape));
    const again = await openModel({ folder: own, newAdapter: { ...newAdapter, seed: 8 } });
    const name = 'model.layers.0.mlp.up_proj.lora_A.adapter_1.weight';
    expect(parameters.get(name)).not.toEqual(again.parameters.get(name));
    const rng = new KeyedRng(7, 'new adapter').child('adapter', name);
    const bound = 1 / Math.sqrt(12);
    expect(parameters.get(name)?.[0]).toBe(Math.fround(bound * (2 * rng.uniform() - 1)));
  });

  test('is not named twice: one adapter does not add up with itself', async () => {
    for (const opening of [
      modelLayers({ folder: own, adapters: [own] }),
      modelLayers({ folder: base, adapters: [own, join(own, '.')] }),
    ]) {
      const { code, message } = await rejectionOf(opening);
      expect(code).toBe('MODEL_INVALID');
      expect(message).toBe(`${own} is named twice. Name each adapter once.`);
    }
  });

  test('is refused when what is under it is gone, or is not said as it should be', async () => {
    const over = await writeOver([join(folder, 'gone')]);
    for (const opening of [modelLayers({ folder: over }), adapterFolders([over])]) {
      const { code, message } = await rejectionOf(opening);
      expect(code).toBe('MODEL_INVALID');
      expect(message).toContain(
        `${join(folder, 'gone')} is not there. ${over} was trained over it.`,
      );
    }
    writeBelow(over, 'trained-over.json', '{"adapters": "own"}');
    expect((await rejectionOf(readAdapterConfig(over, 'x'))).message).toMatch(
      /trained-over\.json must hold.*got \{"adapters":"own"\}/,
    );
  });
});

describe('the model under an adapter', () => {
  test('is found where its config says, also beside it', async () => {
    expect(await modelLayers({ folder: own })).toEqual({ base, adapters: [own] });
    const beside = join(base, 'lora');
    await saveTinyAdapter(beside, config, { baseModel: '..' });
    expect((await modelLayers({ folder: beside })).adapters).toEqual([beside]);
    rmSync(beside, { recursive: true });
  });

  test.each(['elsewhere', ''])('is missed aloud: %j', async (baseModel) => {
    const to = fresh();
    await saveTinyAdapter(to, config, { baseModel });
    const { code, message } = await rejectionOf(openModel({ folder: to }));
    expect(code).toBe('MODEL_INVALID');
    expect(message).toContain(baseModel === '' ? 'an unnamed model' : 'elsewhere');
    expect(message).toContain('model.adapters');
    // With its model named it is an adapter like others.
    const { layers } = await openModel({ folder: base, adapters: [to] });
    expect(layers).toEqual({ base, adapters: [to] });
  });

  test('is no folder without either config', async () => {
    const empty = join(folder, 'neither');
    writeBelow(empty, 'notes.txt', '');
    expect(existsSync(empty)).toBe(true);
    expect((await rejectionOf(modelLayers({ folder: empty }))).message).toContain(
      'neither a model',
    );
  });
});
