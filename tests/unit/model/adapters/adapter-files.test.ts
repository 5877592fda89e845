import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { linearModules } from '#agent_rl/core/services/linear-module.ts';
import type { Adapter } from '#model/config/architecture.ts';
import { adapterTargets } from '#model/adapters/adapter.ts';
import {
  holdsAdapter,
  readAdapterConfig,
  readAdapterWeights,
  writeAdapter,
} from '#model/adapters/adapter-files.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { readJson } from '#model/config/read-json.ts';
import { SafetensorsFile, writeSafetensors } from '#model/weights/safetensors.ts';
import * as fc from '#tests/support/properties.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';
import { saveTinyAdapter, tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

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
    const tensors = new Map<string, { shape: number[]; values: Float32Array }>();
    for (const entry of file.entries)
      tensors.set(entry.name, { shape: [...entry.shape], values: await file.readFloats(entry) });
    return tensors;
  } finally {
    await file.close();
  }
}

beforeAll(async () => {
  await saveModel(base, { config, parameters: tinyWeights(config), storedDtype: 'F32' });
  await saveTinyAdapter(own, config, { baseModel: base });
});

describe('A written adapter', () => {
  test("has PEFT's files, names and shapes", async () => {
    const files = ['adapter_config.json', 'adapter_model.safetensors'];
    expect(readdirSync(own).toSorted()).toEqual(files);
    const tensors = await tensorsOf(own);
    expect(tensors.size).toBe(2 * 7 * 2);
    expect(tensors.get(`${prefix}.1.self_attn.q_proj.lora_A.weight`)?.shape).toEqual([3, 12]);
    expect(tensors.get(`${prefix}.1.self_attn.q_proj.lora_B.weight`)?.shape).toEqual([16, 3]);
    expect(tensors.get(`${prefix}.0.mlp.down_proj.lora_A.weight`)?.shape).toEqual([3, 20]);
    expect(tensors.get(`${prefix}.0.mlp.down_proj.lora_B.weight`)?.shape).toEqual([12, 3]);
  });

  test("has a config with PEFT's keys only", async () => {
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

  test('may have settings that change nothing', async () => {
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
  ])('is refused by name if it has %s %j', async (key, value) => {
    const reading = readAdapterConfig(await changed({ [key]: value }), 'x');
    const message = new RegExp(
      String.raw`adapter_config\.json is not an adapter.*\n- ${key} [^\n]*$`,
    );
    await expect(reading).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
  });

  test('is refused with all of its problems at once', async () => {
    const to = await changed({ use_dora: true, bias: 'all', r: -1, target_modules: ['lm_head'] });
    const { message } = await rejectionOf(readAdapterConfig(to, 'x'));
    expect(message.match(/^- (\w+)/gm)?.join(' ')).toBe('- bias - use_dora - r - target_modules');
  });

  test.each([
    ['no JSON', '{', 'is not JSON'],
    ['no object', '[]', 'it is not an object'],
  ])('is refused if its config is %s', async (_, text, message) => {
    const to = fresh();
    writeBelow(to, 'adapter_config.json', text);
    await expect(readAdapterConfig(to, 'x')).rejects.toMatchObject(
      errorOf('MODEL_INVALID', message),
    );
  });
});

describe('The weights of an adapter', () => {
  const refused = async (of: string, model = config): Promise<string> => {
    const error = await rejectionOf(readAdapterWeights(of, model, tinyAdapter));
    expect(error.code).toBe('MODEL_INVALID');
    return error.message;
  };

  test('must fit the width and depth of the model, tensor by tensor', async () => {
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

  test('must be finite', async () => {
    const to = fresh();
    const parameters = tinyAdapterWeights(config);
    parameters.get('model.layers.0.mlp.up_proj.lora_B.tiny.weight')![4] = Number.NaN;
    await writeAdapter(to, config, { adapter: tinyAdapter, parameters, baseModel: base });
    expect(await refused(to)).toContain(
      `"${prefix}.0.mlp.up_proj.lora_B.weight" holds values that are not finite numbers`,
    );
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
