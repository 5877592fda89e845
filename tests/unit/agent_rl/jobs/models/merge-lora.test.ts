import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import type { ErrorCode } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { exportModel } from '#agent_rl/jobs/models/export-model.ts';
import { importGguf } from '#agent_rl/jobs/models/import-gguf.ts';
import { mergeLora, type MergeLoraOptions } from '#agent_rl/jobs/models/merge-lora.ts';
import { score } from '#agent_rl/jobs/token-files/score.ts';
import { writeAdapter } from '#model/adapters/adapter-files.ts';
import type { Quantization } from '#model/config/architecture.ts';
import { requireFloats, type Weights } from '#model/config/parameters.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import { tinyQuantizedModel } from '#tests/support/quantized-model.ts';
import { smallModelConfig, writeSmallModel } from '#tests/support/small-model.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';
import {
  mergedInLoops,
  saveTinyAdapter,
  tinyAdapter,
  tinyAdapterWeights,
} from '#tests/support/tiny-adapter.ts';
import { tinyModels, tinyWeights } from '#tests/support/tiny-models.ts';

const tokenizerFiles = ['tokenizer.json', 'tokenizer_config.json'];
const folder = temporaryFolder();
const { signal } = new AbortController();
const baseModel = join(folder, 'base');
const lora = join(folder, 'lora');
const config = tinyModels['Qwen2 with biases, four query heads per key head and its own LM head']!;
const parameters = tinyWeights(config);

beforeAll(async () => {
  await saveModel(baseModel, { config, parameters, storedDtype: 'F32' });
  await saveTinyAdapter(lora, config);
  for (const name of tokenizerFiles) writeBelow(baseModel, name, name);
});

async function adapterOf(name: string, of = config): Promise<string> {
  await saveTinyAdapter(join(folder, name), of);
  return join(folder, name);
}

let outputs = 0;
async function merged(over: Partial<MergeLoraOptions> = {}): Promise<string> {
  const outputPath = join(folder, `merged-${(outputs += 1)}`);
  await mergeLora({
    baseModel,
    loraModels: [lora],
    outputPath,
    signal,
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
    signal,
    print: () => undefined,
  });
  const { logprobs } = JSON.parse(readFileSync(output, 'utf8')) as { logprobs: (number | null)[] };
  return logprobs.map(Number);
}

const gap = (a: readonly number[], b: readonly number[]): number =>
  Math.max(...a.map((value, t) => Math.abs(value - b[t]!)));

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

  test('adds to what four-bit weights stand for, quantised in their folder or on the way', async () => {
    const tiny = await tinyQuantizedModel();
    const { quantization, ...plain } = tiny.config;
    const [bytes, floats, over] = ['bytes', 'floats', 'over'].map((name) => join(folder, name));
    const storedDtype = 'F32';
    await saveModel(bytes!, { config: tiny.config, parameters: tiny.weights, storedDtype });
    await saveModel(floats!, { config: plain, parameters: tiny.floats, storedDtype });
    await saveTinyAdapter(over!, plain);
    for (const name of tokenizerFiles) writeBelow(bytes!, name, name);
    const output = await merged({ baseModel: bytes!, loraModels: [over!] });
    expect((await loadModel(output)).config).toEqual(plain);
    const whole = await logProbsOf(output);
    const stored = await logProbsOf(bytes!, [over!]);
    expect(gap(whole, stored)).toBeLessThan(1e-5);
    expect(gap(whole, await logProbsOf(floats!, [over!], quantization))).toBeLessThan(1e-5);
    expect(gap(whole, await logProbsOf(floats!, [over!]))).toBeGreaterThan(1e-3);
  });

  test('writes a whole folder in the requested width, with the tokenizer of the adapter if it has one', async () => {
    const files = ['config.json', 'model.safetensors', ...tokenizerFiles];
    expect(readdirSync(await merged()).toSorted()).toEqual(files);
    const speaking = await adapterOf('speaking');
    writeBelow(speaking, 'tokenizer.json', "the adapter's");
    const output = await merged({ loraModels: [speaking] });
    expect(readFileSync(join(output, 'tokenizer.json'), 'utf8')).toBe("the adapter's");
    expect(await loadModel(await merged({ dtype: 'BF16' }))).toMatchObject({ storedDtype: 'BF16' });
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

  const unknownLayers = async () => {
    const file = join(await adapterOf('unknown'), 'adapter_config.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"q_proj"', '"c_attn"'));
    return { loraModels: [dirname(file)] };
  };
  const otherModel = async () => ({
    loraModels: [await adapterOf('other', { ...config, hiddenSize: 16 })],
  });
  test.each<[string, () => Promise<Partial<MergeLoraOptions>>, ErrorCode, string]>([
    ['an unknown width', async () => ({ dtype: 'F8' }), 'CONFIG_INVALID', 'F32, BF16, F16'],
    [
      'a folder that is there',
      async () => ({ outputPath: baseModel }),
      'OUTPUT_UNWRITABLE',
      'Give another --output',
    ],
    ['being stopped', async () => ({ signal: AbortSignal.abort() }), 'INTERRUPTED', 'Stopped'],
    ['no adapter', async () => ({ loraModels: [baseModel] }), 'MODEL_INVALID', 'has no adapter_c'],
    [
      'an adapter of another model',
      otherModel,
      'MODEL_INVALID',
      'for this model it must be [3, 12]',
    ],
    ['an adapter of layers that are not there', unknownLayers, 'MODEL_INVALID', 'has c_attn'],
  ])('refuses %s, and leaves nothing', async (_, options, code, message) => {
    const outputPath = join(folder, 'refused');
    await expectRejection(merged({ outputPath, ...(await options()) }), code, message);
    expect(readdirSync(folder).filter((name) => name.startsWith('refused'))).toEqual([]);
  });
});

const model = join(folder, 'model');
const exported = (name: string, format: string) =>
  exportModel({ model, onnx: join(folder, name), format, signal, print: () => undefined });

test('an untied model has a head that equals its embedding, and all else as it was', async () => {
  await writeSmallModel(model, { ...smallModelConfig, tiedEmbeddings: true });
  await exported('untied', 'untied');
  const [before, after] = [await loadModel(model), await loadModel(join(folder, 'untied'))];
  expect(after.config).toEqual({ ...before.config, tiedEmbeddings: false });
  expect(after.parameters.get('lm_head.weight')).toEqual(
    before.parameters.get('model.embed_tokens.weight'),
  );
  for (const [name, values] of before.parameters)
    expect(after.parameters.get(name)).toEqual(values);
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    expect(existsSync(join(folder, 'untied', name))).toBe(true);
});

test('an existing folder is not overwritten, and other formats are refused', async () => {
  await writeSmallModel(model);
  await expectRejection(exported('model', 'untied'), 'OUTPUT_UNWRITABLE');
  const expected = '--format is "gguf"; expected onnx, embedder or untied.';
  await expectRejection(exported('other', 'gguf'), 'CONFIG_INVALID', expected);
});

test('an embedding model becomes a folder for dense without adapters, and what to set is said', async () => {
  const bert = join(packageRoot(), 'tests', 'fixtures', 'tiny-bert');
  const said: string[] = [];
  const print = (text: string): void => void said.push(text);
  const onnx = join(folder, 'embedder');
  const given = { model: bert, format: 'embedder', onnx, signal, print };
  expect(await exportModel(given)).toMatchObject({ onnx, pooling: 'mean' });
  expect(existsSync(join(onnx, 'onnx', 'model.onnx'))).toBe(true);
  expect(said.join('\n')).toContain('embeds the first 10 tokens');
  expect(said.join('\n')).toContain(`{type: transformers, model: ${onnx}, pooling: mean}`);
  const adapted = exportModel({ ...given, onnx: join(folder, 'adapted'), adapters: ['some'] });
  await expectRejection(adapted, 'CONFIG_INVALID', '--format embedder does not export adapters');
});

test.each([
  ['is not there', 'none.jinja', 'CONFIG_INVALID', '--chat-template'],
  ['cannot be parsed', 'broken.jinja', 'TOKENIZER_INVALID', 'cannot be parsed'],
] as const)(
  'a chat template that %s is refused before a GGUF is read',
  async (_, name, code, text) => {
    writeBelow(folder, 'broken.jinja', '{% for message in messages %}');
    const places = { file: join(folder, 'none.gguf'), folder: join(folder, 'imported') };
    const chatTemplate = join(folder, name);
    const refused = importGguf({ ...places, chatTemplate, signal, print: () => undefined });
    await expectRejection(refused, code, text);
    expect(existsSync(places.folder)).toBe(false);
  },
);
