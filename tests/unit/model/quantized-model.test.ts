import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { loadModel, saveModel } from '#model/weights/load-model.ts';
import { readModelConfig, writeModelConfig } from '#model/config/model-config.ts';
import { SafetensorsFile } from '#model/weights/safetensors.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const root = temporaryFolder();
const folder = (name: string): string => join(root, name);
const quantization = { bits: 4, blockSize: 16 } as const;

describe('A quantised model', () => {
  test('is loaded as it was saved, with float32 scales whatever the other widths', async () => {
    const { config, weights } = await tinyQuantizedModel();
    await saveModel(folder('saved'), { config, parameters: weights, storedDtype: 'BF16' });
    const loaded = await loadModel(folder('saved'));
    expect(loaded.config).toEqual(config);
    expect([...loaded.parameters.keys()]).toEqual([...weights.keys()]);
    const exact = [...weights].filter(
      ([name, values]) => values instanceof Uint8Array || name.endsWith('_scale'),
    );
    expect(exact).toHaveLength(2 * 7 * config.layers);
    for (const [name, values] of exact) expect(loaded.parameters.get(name)).toEqual(values);
    const file = await SafetensorsFile.open(join(folder('saved'), 'model.safetensors'));
    const stored = Object.fromEntries(file.entries.map(({ name, dtype }) => [name, dtype]));
    await file.close();
    expect(stored['model.layers.0.mlp.up_proj.weight']).toBe('U8');
    expect(stored['model.layers.0.mlp.up_proj.weight_scale']).toBe('F32');
    expect(stored['model.embed_tokens.weight']).toBe('BF16');
    const json: unknown = JSON.parse(await readFile(join(folder('saved'), 'config.json'), 'utf8'));
    expect(json).toMatchObject({
      quantization_config: { quant_method: 'agent_rl', bits: 4, block_size: 16 },
    });
  });

  test('is made while a float model is loaded', async () => {
    const { floats, weights, config } = await tinyQuantizedModel();
    const float = { config: tinyModelConfig, parameters: floats, storedDtype: 'F32' as const };
    await saveModel(folder('float'), float);
    const loaded = await loadModel(folder('float'), { quantize: quantization });
    expect(loaded).toEqual({ config, parameters: weights, storedDtype: 'F32' });
    await saveModel(folder('bytes'), loaded);
    const again = loadModel(folder('bytes'), { quantize: quantization });
    await expect(again).rejects.toThrow('quantised already');
  });

  test('is refused if its config.json does not say so', async () => {
    const { config, weights } = await tinyQuantizedModel();
    await saveModel(folder('lost'), { config, parameters: weights, storedDtype: 'F32' });
    const plain = JSON.stringify(writeModelConfig(tinyModelConfig, 'float32'));
    await writeFile(join(folder('lost'), 'config.json'), plain);
    await expect(loadModel(folder('lost'))).rejects.toThrow(
      '"model.layers.0.self_attn.q_proj.weight" holds bytes (U8); expected F32',
    );
  });
});

describe('quantization_config', () => {
  const plain = writeModelConfig(tinyModelConfig, 'float32');
  const own = { quant_method: 'agent_rl', bits: 4, block_size: 16 };
  const reading = (quantization_config: unknown) => () =>
    readModelConfig({ ...plain, quantization_config });

  test('is read back as it was written', () => {
    expect(reading(own)().quantization).toEqual(quantization);
    expect(reading(null)().quantization).toBeUndefined();
    const config = { ...tinyModelConfig, quantization };
    expect(readModelConfig(writeModelConfig(config, 'float32'))).toEqual(config);
  });

  test.each(['bitsandbytes', 'gptq', 'awq', 'fp8'])('refuses %s by name', (quant_method) => {
    const message = new RegExp(`quantised by "${quant_method}".*only "agent_rl"`);
    expect(thrownBy(reading({ quant_method, bits: 4 }))).toMatchObject(
      errorOf('MODEL_INVALID', message),
    );
  });

  test.each([
    [{ ...own, bits: 8 }, '"bits":8'],
    [{ quant_method: 'agent_rl', bits: 4 }, '"block_size"'],
    [{ ...own, block_size: 48 }, 'a power of two from 16, got 48'],
    [{ ...own, block_size: 32 }, 'self_attn.q_proj [32, 16] has 16 inputs'],
    [{ ...own, modules: ['mlp.up_proj'] }, 'quantization_config.modules must be'],
    ['4bit', 'quantised by "4bit"'],
  ])('refuses %j', (config, why) => {
    expect(reading(config)).toThrow(why);
  });
});
