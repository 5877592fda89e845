import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { mergeLora } from '#agent_rl/jobs/models/merge-lora.ts';
import type { MergeLoraOptions } from '#agent_rl/jobs/models/merge-lora.ts';
import { score } from '#agent_rl/jobs/token-files/score.ts';
import { writeAdapter } from '#model/adapters/adapter-files.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import type { Weights } from '#model/config/parameters.ts';
import type { Quantization } from '#model/config/architecture.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { requireFloats } from '#model/config/parameters.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';
import {
  mergedInLoops,
  saveTinyAdapter,
  tinyAdapter,
  tinyAdapterWeights,
} from '#tests/support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

const folder = temporaryFolder();
const baseModel = join(folder, 'base');
const lora = join(folder, 'lora');
const config = tinyModels['Qwen2 with biases, four query heads per key head and its own LM head']!;
const parameters = tinyWeights(config);

beforeAll(async () => {
  await saveModel(baseModel, { config, parameters, storedDtype: 'F32' });
  await saveTinyAdapter(lora, config);
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) writeBelow(baseModel, name, name);
});

let outputs = 0;
async function merged(over: Partial<MergeLoraOptions> = {}): Promise<string> {
  const outputPath = join(folder, `merged-${(outputs += 1)}`);
  await mergeLora({
    baseModel,
    loraModels: [lora],
    outputPath,
    signal: new AbortController().signal,
    print: () => undefined,
    ...over,
  });
  return outputPath;
}

/** Largest distance of two values at one place of two models' tensors. */
function largestDifference(a: Weights, b: Weights): number {
  expect([...a.keys()]).toEqual([...b.keys()]);
  return Math.max(
    ...[...a].flatMap(([name, values]) =>
      [...values].map((x, i) => Math.abs(x - b.get(name)![i]!)),
    ),
  );
}

async function logProbsOf(
  model: string,
  adapters: readonly string[] = [],
  quantize?: Quantization,
) {
  const ids = Array.from({ length: 30 }, (_, t) => (t * 7 + 3) % config.vocabSize);
  const input = writeBelow(folder, 'ids.jsonl', JSON.stringify({ ids }));
  const output = join(folder, `scored-${(outputs += 1)}.jsonl`);
  await score({
    model,
    adapters,
    input,
    output,
    device: 'cpu',
    engineThreads: 1,
    batchTokens: 64,
    ...(quantize && { quantize }),
    signal: new AbortController().signal,
    print: () => undefined,
  });
  const { logprobs } = JSON.parse(readFileSync(output, 'utf8')) as { logprobs: (number | null)[] };
  return logprobs.map(Number);
}

const floatModel = async (path: string) => {
  const model = await loadModel(path);
  return { ...model, parameters: requireFloats(model.parameters) };
};

describe('merge-lora', () => {
  test('writes W + scale B A, and leaves every other tensor as it is', async () => {
    const model = await floatModel(await merged());
    const expected = mergedInLoops(parameters, tinyAdapterWeights(config), config);
    expect(largestDifference(model.parameters, expected)).toBeLessThan(1e-6);
    expect(largestDifference(parameters, expected)).toBeGreaterThan(0.1);
    expect(model.config).toEqual(config);
    for (const name of ['model.embed_tokens.weight', 'lm_head.weight', 'model.norm.weight'])
      expect(model.parameters.get(name)).toEqual(parameters.get(name));
  });

  test('writes a model that says what base and adapter say together', async () => {
    const output = await merged();
    const [whole, apart] = [await logProbsOf(output), await logProbsOf(baseModel, [lora])];
    const differences = whole.map((value, t) => Math.abs(value - apart[t]!));
    expect(Math.max(...differences)).toBeLessThan(1e-5);
    expect(await logProbsOf(baseModel)).not.toEqual(apart);
  });

  test('adds to what four-bit weights stand for, quantised in their folder or on the way', async () => {
    const tiny = await tinyQuantizedModel();
    const { quantization } = tiny.config;
    const [bytes, floats, over] = ['bytes', 'floats', 'over-bytes'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    await saveModel(bytes, { config: tiny.config, parameters: tiny.weights, storedDtype: 'F32' });
    const { quantization: _dropped, ...plain } = tiny.config;
    await saveModel(floats, { config: plain, parameters: tiny.floats, storedDtype: 'F32' });
    await saveTinyAdapter(over, plain);
    for (const base of [bytes, floats]) {
      for (const name of ['tokenizer.json', 'tokenizer_config.json']) writeBelow(base, name, name);
    }
    const output = await merged({ baseModel: bytes, loraModels: [over] });
    expect((await loadModel(output)).config).toEqual(plain);
    const whole = await logProbsOf(output);
    for (const apart of [
      await logProbsOf(bytes, [over]),
      await logProbsOf(floats, [over], quantization),
    ]) {
      const differences = whole.map((value, t) => Math.abs(value - apart[t]!));
      expect(Math.max(...differences)).toBeLessThan(1e-5);
    }
    const before = await logProbsOf(floats, [over]);
    expect(Math.max(...whole.map((value, t) => Math.abs(value - before[t]!)))).toBeGreaterThan(
      1e-3,
    );
  });

  test('writes a whole folder, with the tokenizer of the base or of the adapter that brings one', async () => {
    expect(readdirSync(await merged()).toSorted()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    const speaking = join(folder, 'speaking');
    await saveTinyAdapter(speaking, config);
    writeBelow(speaking, 'tokenizer.json', "the adapter's");
    const output = await merged({ loraModels: [speaking] });
    expect(readFileSync(join(output, 'tokenizer.json'), 'utf8')).toBe("the adapter's");
  });

  test('adds up several adapters, and finds those that one was trained over', async () => {
    const second = { ...tinyAdapter, name: 'second', rank: 2, alpha: 1 };
    const weights = tinyAdapterWeights(config, second);
    const over = join(folder, 'over');
    const files = { adapter: second, parameters: weights, baseModel };
    await writeAdapter(over, config, { ...files, under: [lora] });
    const one = mergedInLoops(parameters, tinyAdapterWeights(config), config);
    const both = mergedInLoops(one, weights, config, second);
    for (const loraModels of [[over], [lora, over]]) {
      const model = await floatModel(await merged({ loraModels }));
      expect(largestDifference(model.parameters, both)).toBeLessThan(1e-6);
    }
  });

  test('scales by the root of the rank where the adapter says so', async () => {
    const stabilised = join(folder, 'stabilised');
    const adapter = { ...tinyAdapter, rank: 4, alpha: 8, rankStabilised: true };
    await saveTinyAdapter(stabilised, config, { adapter });
    const model = await floatModel(await merged({ loraModels: [stabilised] }));
    // 8 / sqrt(4) is 16 / 4.
    const same = { ...adapter, alpha: 16 };
    const expected = mergedInLoops(parameters, tinyAdapterWeights(config, adapter), config, same);
    expect(largestDifference(model.parameters, expected)).toBeLessThan(1e-6);
  });

  test('stores the requested number format', async () => {
    const [whole, half] = [await merged(), await merged({ dtype: 'BF16' })].map((path) =>
      floatModel(path),
    );
    const { parameters: rounded, storedDtype } = await half!;
    expect(storedDtype).toBe('BF16');
    // Half of the last of 8 bits of values up to 4.
    const difference = largestDifference(rounded, (await whole!).parameters);
    expect(difference).toBeGreaterThan(0);
    expect(difference).toBeLessThan(2 ** -7);
  });

  test('stops before it writes', async () => {
    const outputPath = join(folder, 'stopped');
    const error = await rejectionOf(merged({ outputPath, signal: AbortSignal.abort() }));
    expect(error.code).toBe('INTERRUPTED');
    expect(readdirSync(folder).filter((name) => name.startsWith('stopped'))).toEqual([]);
  });

  test.each<[string, () => Promise<Partial<MergeLoraOptions>>, string, string]>([
    [
      'an unknown width',
      async () => ({ dtype: 'F8' }),
      'CONFIG_INVALID',
      'expected F32, BF16, F16',
    ],
    [
      'a folder that is there',
      async () => ({ outputPath: baseModel }),
      'OUTPUT_UNWRITABLE',
      'Give another --output',
    ],
    [
      'no adapter',
      async () => ({ loraModels: [baseModel] }),
      'MODEL_INVALID',
      'has no adapter_config.json',
    ],
    [
      'an adapter of another model',
      async () => {
        const other = join(folder, 'other');
        await saveTinyAdapter(other, { ...config, hiddenSize: 16 });
        return { loraModels: [other] };
      },
      'MODEL_INVALID',
      'on this model expected [3, 12]',
    ],
    [
      'an adapter of layers that are not there',
      async () => {
        const unknown = join(folder, 'unknown');
        await saveTinyAdapter(unknown, config);
        const file = join(unknown, 'adapter_config.json');
        const text = readFileSync(file, 'utf8').replace('"q_proj"', '"c_attn"');
        writeBelow(unknown, 'adapter_config.json', text);
        return { loraModels: [unknown] };
      },
      'MODEL_INVALID',
      'target_modules has c_attn',
    ],
  ])('refuses %s, and leaves nothing', async (_, options, code, message) => {
    const outputPath = join(folder, 'refused');
    const error = await rejectionOf(merged({ outputPath, ...(await options()) }));
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(existsSync(outputPath)).toBe(false);
  });
});
