import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { readModelConfig, writeModelConfig } from '#model/config/model-config.ts';
import { initialParameters, parameterCount, parameterSpecs } from '#model/config/parameters.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import * as quantized from '#model/weights/quantize-weights.ts';
import { SafetensorsFile } from '#model/weights/safetensors.ts';
import { array, assert, double, property } from '#tests/support/properties.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf } from '#tests/support/thrown.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const { dequantizedTensor, dequantizeMatrix, quantizeMatrix, quantizeWeights } = quantized;
const quantization = { bits: 4, blockSize: 16 } as const;

const rowOf = (...first: number[]): Float32Array =>
  Float32Array.from({ length: 16 }, (_, i) => first[i] ?? 0);

const power = (values: Float32Array): number =>
  values.reduce((sum, value) => sum + value * value, 0);

const errorLeft = (values: Float32Array, blockSize: number): number => {
  const back = dequantizeMatrix(quantizeMatrix(values, blockSize));
  return power(values.map((value, i) => value - back[i]!));
};

describe('quantizeMatrix', () => {
  const bytes = (...first: number[]) => first.concat(Array<number>(8 - first.length).fill(0x88));
  test.each<[string, number[], number, number[]]>([
    ['puts the first of two values in the low half', [-8, 7, 1, -3, 0, 2], 1, [0xf0, 0x59, 0xa8]],
    ['turns the side with eight steps to the largest weight', [4, -3.5], -0.5, [0xf0]],
    ['holds a block of zeros', [], 0, []],
  ])('%s', (_, values, scale, first) => {
    const { packed, scales } = quantizeMatrix(rowOf(...values), 16);
    expect([[...scales], [...packed]]).toEqual([[scale], bytes(...first)]);
  });

  test.each([16, 32, 64, 128])('gives back what four bits can say, blocks of %d', (size) => {
    const rng = new KeyedRng(size);
    const values = new Float32Array(4 * size).map((_, i) =>
      i % size === 0 ? -8 * 0.25 : 0.25 * (rng.integer(16) - 8),
    );
    expect(dequantizeMatrix(quantizeMatrix(values, size))).toEqual(values);
  });

  test('never leaves more than the largest weight at its eighth step does', () => {
    // Below that, a scale is no longer a normal float32.
    const value = double({ min: -1e3, max: 1e3, noNaN: true }).map((v) =>
      Math.abs(v) < 1e-30 ? 0 : v,
    );
    const numbers = array(value, { minLength: 32, maxLength: 32 });
    assert(
      property(numbers, (of) => {
        const values = Float32Array.from(of);
        const largest = values.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
        const scale = largest / -8 || 1;
        const steps = values.map((v) => Math.min(7, Math.max(-8, Math.round(v / scale))));
        const plain = power(values.map((v, i) => v - scale * steps[i]!));
        expect(errorLeft(values, 32)).toBeLessThanOrEqual(plain * 1.001 + 1e-6 * largest ** 2);
      }),
    );
  });

  test('leaves 9.0 % of normal weights in blocks of 64', () => {
    const rng = new KeyedRng(2);
    const values = new Float32Array(64 * 512).map(() => 0.02 * rng.normal());
    expect(Math.sqrt(errorLeft(values, 64) / power(values))).toBeCloseTo(0.0905, 3);
    // What the largest magnitude over 7 leaves, worked out apart.
    const naive = values.map((value, i) => {
      const block = values.subarray(i - (i % 64), i - (i % 64) + 64);
      const scale = Math.max(...block.map(Math.abs)) / 7;
      return value - scale * Math.round(value / scale);
    });
    expect(Math.sqrt(power(naive) / power(values))).toBeGreaterThan(0.105);
  });
});

describe('quantizeWeights', () => {
  const floats = initialParameters(tinyModelConfig, new KeyedRng(1));
  const read = ({ name }: { name: string }) => floats.get(name)!;

  test('makes the tensors that the quantised configuration names, linear layers alone as bytes', async () => {
    const weights = await quantizeWeights(tinyModelConfig, { quantization, read });
    const config = { ...tinyModelConfig, quantization };
    const specs = parameterSpecs(config);
    expect([...weights.keys()]).toEqual(specs.map(({ name }) => name));
    for (const { name, shape, dtype } of specs) {
      expect(weights.get(name)).toHaveLength(shape.reduce((a, b) => a * b, 1));
      expect(weights.get(name)).toBeInstanceOf(dtype === 'uint8' ? Uint8Array : Float32Array);
    }
    const bytes = specs.filter(({ dtype }) => dtype === 'uint8');
    expect(bytes).toHaveLength(7 * tinyModelConfig.layers);
    const down = bytes.find(({ name }) => name.endsWith('mlp.down_proj.weight'));
    expect(down?.shape).toEqual([16, 2, 8]);
    expect(weights.get('model.embed_tokens.weight')).toBe(floats.get('model.embed_tokens.weight'));
    expect(parameterCount(config)).toBe(parameterCount(tinyModelConfig));
    const name = 'model.layers.1.self_attn.k_proj.weight';
    const restored = dequantizedTensor(weights, name)!;
    const off = restored.map((v, i) => Math.abs(v - floats.get(name)![i]!));
    expect(Math.max(...off)).toBeLessThan(0.02);
    expect(Math.max(...off)).toBeGreaterThan(0);
  });

  test.each<[string, object, number, RegExp]>([
    ['layers of other sizes', {}, 32, /q_proj \[32, 16\] has 16 inputs[^]*mlp\.up_proj/],
    ['other block sizes', {}, 24, /a power of two from 16, got 24/],
    ['a model that is quantised already', { quantization }, 16, /quantised already/],
  ])('refuses %s', async (_, more, blockSize, message) => {
    const asked = { quantization: { bits: 4, blockSize } as const, read };
    const made = quantizeWeights({ ...tinyModelConfig, ...more }, asked);
    await expect(made).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
  });
});

describe('A quantised model', () => {
  const folder = temporaryFolder();

  test('is loaded as it was saved, with float32 scales whatever the other widths', async () => {
    const { config, weights } = await tinyQuantizedModel();
    await saveModel(folder, { config, parameters: weights, storedDtype: 'BF16' });
    const loaded = await loadModel(folder);
    expect(loaded.config).toEqual(config);
    expect([...loaded.parameters.keys()]).toEqual([...weights.keys()]);
    const isExact = (name: string) => /_proj\.weight(_scale)?$/.test(name);
    const exact = [...weights].filter(([name]) => isExact(name));
    expect(exact).toHaveLength(2 * 7 * config.layers);
    for (const [name, values] of exact) expect(loaded.parameters.get(name)).toEqual(values);
    const file = await SafetensorsFile.open(join(folder, 'model.safetensors'));
    const stored = Object.fromEntries(file.entries.map(({ name, dtype }) => [name, dtype]));
    await file.close();
    expect(stored).toMatchObject({
      'model.layers.0.mlp.up_proj.weight': 'U8',
      'model.layers.0.mlp.up_proj.weight_scale': 'F32',
      'model.embed_tokens.weight': 'BF16',
    });
    const json: unknown = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8'));
    const quantization_config = { quant_method: 'agent_rl', bits: 4, block_size: 16 };
    expect(json).toMatchObject({ quantization_config });
    const lost = JSON.stringify(writeModelConfig(tinyModelConfig, 'float32'));
    await writeFile(join(folder, 'config.json'), lost);
    await expect(loadModel(folder)).rejects.toThrow(
      '"model.layers.0.self_attn.q_proj.weight" holds bytes (U8); expected F32',
    );
  });

  test('is made while a float model is loaded', async () => {
    const { floats, weights, config } = await tinyQuantizedModel();
    const float = { config: tinyModelConfig, parameters: floats, storedDtype: 'F32' as const };
    await saveModel(folder, float);
    const loaded = await loadModel(folder, { quantize: quantization });
    expect(loaded).toEqual({ config, parameters: weights, storedDtype: 'F32' });
    await saveModel(folder, loaded);
    const again = loadModel(folder, { quantize: quantization });
    await expect(again).rejects.toThrow('quantised already');
  });
});

describe('quantization_config', () => {
  const own = { quant_method: 'agent_rl', bits: 4, block_size: 16 };
  const reading = (quantization_config: unknown) => () =>
    readModelConfig({ ...writeModelConfig(tinyModelConfig, 'float32'), quantization_config });

  test('is read back as it was written', () => {
    expect(reading(own)().quantization).toEqual(quantization);
    expect(reading(null)().quantization).toBeUndefined();
    const config = { ...tinyModelConfig, quantization };
    expect(readModelConfig(writeModelConfig(config, 'float32'))).toEqual(config);
  });

  test.each([
    [{ quant_method: 'gptq', bits: 4 }, 'quantised with "gptq"'],
    ['4bit', 'quantised with "4bit"'],
    [{ ...own, bits: 8 }, '"bits":8'],
    [{ quant_method: 'agent_rl', bits: 4 }, '"block_size"'],
    [{ ...own, block_size: 48 }, 'a power of two from 16, got 48'],
    [{ ...own, block_size: 32 }, 'self_attn.q_proj [32, 16] has 16 inputs'],
    [{ ...own, modules: ['mlp.up_proj'] }, 'quantization_config.modules must be'],
  ])('refuses %j', (config, why) => {
    expect(reading(config)).toThrow(why);
  });
});
