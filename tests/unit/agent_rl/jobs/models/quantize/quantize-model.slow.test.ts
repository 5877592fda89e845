import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { quantizeModel } from '#agent_rl/jobs/models/quantize/quantize-model.ts';
import type { QuantizeOptions } from '#agent_rl/jobs/models/model-choice.ts';
import { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import { loadModel } from '#model/weights/load-model.ts';
import { openModel } from '#model/weights/open-model.ts';
import { requireFloats, unquantized } from '#model/config/parameters.ts';
import { dequantizedTensor } from '#model/weights/quantize-weights.ts';
import { Tokenizer } from '#model/text/tokenizer.ts';
import { logSoftmax, plainLogits } from '#tests/support/plain-decoder.ts';
import { smallModelConfig, writeSmallModel } from '#tests/support/small-model.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { expectRejection, rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const model = join(folder, 'model');
const text = join(folder, 'text.txt');
const words = 'The quick brown fox jumps over the lazy dog, and then sleeps for 12 hours. ';

beforeAll(async () => {
  await writeSmallModel(model, { ...smallModelConfig, layers: 2, maxPositions: 16 });
  writeFileSync(text, words.repeat(3));
});

const lora = (rank: number, target: string) => ({ rank, alpha: 4, targets: [target] });

const run = (output: string, more: Partial<QuantizeOptions> = {}) =>
  quantizeModel({
    model,
    output: join(folder, output),
    blockSize: 16,
    textTokens: 40,
    seed: 1,
    device: 'cpu',
    engineThreads: 1,
    lora: lora(2, 'attention'),
    signal: new AbortController().signal,
    print: () => undefined,
    ...more,
  });

describe('quantizeModel', () => {
  test('reports what both models predict, as other code computes it', async () => {
    const report = await run('compared', { text, lora: undefined });
    // None is requested.
    expect(existsSync(join(folder, 'compared', 'adapter'))).toBe(false);
    const tokenizer = await Tokenizer.fromFolder(model);
    const ids = tokenizer.encodePlain(readFileSync(text, 'utf8'));
    // Two pieces of the model's 16 positions; the rest of the 40 tokens makes no third.
    const windows = [ids.slice(0, 16), ids.slice(16, 32)];
    const float = await loadModel(model);
    const quantized = await loadModel(join(folder, 'compared'));
    const plain = { config: float.config, weights: requireFloats(float.parameters) };
    const tensorOf = (name: string) => dequantizedTensor(quantized.parameters, name)!;
    const dequantized = new Map([...plain.weights.keys()].map((name) => [name, tensorOf(name)]));
    const meant = { config: unquantized(quantized.config), weights: dequantized };
    let [logit, logProb, kl, same] = [0, 0, 0, 0];
    for (const window of windows) {
      const [a, b] = [plain, meant].map(({ config, weights }) =>
        plainLogits(config, weights, window).slice(0, -1),
      );
      for (const [t, row] of a!.entries()) {
        const [p, q] = [logSoftmax(row), logSoftmax(b![t]!)];
        const gap = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
          Math.max(...Array.from(x, (value, i) => Math.abs(value - y[i]!)));
        logit = Math.max(logit, gap(row, b![t]!));
        logProb = Math.max(logProb, gap(p, q));
        kl += p.reduce((sum, value, i) => sum + Math.exp(value) * (value - q[i]!), 0) / 30;
        same += Number(p.indexOf(Math.max(...p)) === q.indexOf(Math.max(...q))) / 30;
      }
    }
    expect(report['positions']).toBe(30);
    expect(logit).toBeGreaterThan(1e-3);
    expect(report['maxLogitDifference']).toBeCloseTo(logit, 5);
    expect(report['maxLogProbDifference']).toBeCloseTo(logProb, 5);
    expect(report['meanKl']).toBeCloseTo(kl, 6);
    expect(report['sameLikeliest']).toBeCloseTo(same, 9);

    const engine = new OnnxEngine({ device: 'cpu', threads: 1 });
    const perplexityOf = async ({ config, parameters }: typeof float): Promise<number> => {
      const learner = new LocalLearner(engine, config, parameters, { microBatchTokens: 64 });
      const batch = windows.map((window) => Int32Array.from(window));
      const scored = await learner.forward(batch, { temperature: 1, which: 'policy' });
      // The first token of each, which nothing predicts, counts 0.
      const sum = scored.reduce((all, row) => row.reduce((a, b) => a + b, all), 0);
      return Math.exp(-sum / 30);
    };
    const perplexity = report['perplexity'] as { float32: number; quantized: number };
    expect(perplexity.float32 / (await perplexityOf(float))).toBeCloseTo(1, 5);
    expect(perplexity.quantized / (await perplexityOf(quantized))).toBeCloseTo(1, 5);
    expect(perplexity.float32).not.toBe(perplexity.quantized);
    await engine.close();
  });

  test('writes a model folder and an adapter that finds it and changes nothing', async () => {
    const printed: string[] = [];
    const report = await run('whole', { print: (line) => printed.push(line) });
    const output = join(folder, 'whole');
    const files =
      'adapter config.json model.safetensors quantization.json tokenizer.json tokenizer_config.json';
    expect(readdirSync(output).toSorted()).toEqual(files.split(' '));
    expect(JSON.parse(readFileSync(join(output, 'quantization.json'), 'utf8'))).toEqual(report);
    expect(report).toMatchObject({ perplexity: null, comparedOn: 'random tokens', blockSize: 16 });
    // 2 layers x (q 32 + k 16 + v 16 + o 16 outputs and 16 + 16 + 16 + 32 inputs) x rank 2.
    expect(printed.join('\n')).toMatch(/Adapter +adapter, rank 2: 640 parameters to train/);

    const opened = await openModel({ folder: join(output, 'adapter') });
    expect(opened.layers.base).toBe(output);
    expect(opened.config.quantization).toEqual({ bits: 4, blockSize: 16 });
    const ofAdapter = [...opened.parameters].filter(([name]) => name.includes('.lora_'));
    expect(ofAdapter).toHaveLength(2 * 2 * 4);
    const changes = ofAdapter.filter(([name]) => name.includes('.lora_B.'));
    expect(changes.every(([, values]) => values.every((value) => value === 0))).toBe(true);
    expect(
      [...opened.parameters.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
    ).toBe((report['bytes'] as { quantized: number }).quantized + 4 * 640);
  });

  test.each<[string, Partial<QuantizeOptions>, string, string]>([
    ['blocks that do not divide', { blockSize: 64 }, 'MODEL_INVALID', 'block size 64'],
    ['no text', { text: join(folder, 'none.txt') }, 'CONFIG_INVALID', 'none.txt cannot be read'],
    ['too short a text', { text, textTokens: 1 }, 'CONFIG_INVALID', '--text-tokens'],
    ['an invalid rank', { lora: lora(1.5, 'mlp') }, 'CONFIG_INVALID', '--lora-rank'],
    ['an unknown target', { lora: lora(1, 'lm_head') }, 'CONFIG_INVALID', 'lm_head'],
    ['being stopped', { signal: AbortSignal.abort() }, 'INTERRUPTED', 'Stopped'],
  ])('leaves nothing behind after %s', async (_title, options, code, message) => {
    const before = readdirSync(folder);
    const thrown = await rejectionOf(run('failed', options));
    expect(thrown.code).toBe(code);
    expect(thrown.message).toContain(message);
    expect(readdirSync(folder)).toEqual(before);
  });
});

test('quantizing an adapter, into a file or over a folder is refused', async () => {
  await run('with-adapter');
  for (const [output, from, code] of [
    ['none', join('with-adapter', 'adapter'), 'MODEL_INVALID'],
    [join('text.txt', 'below'), 'model', 'OUTPUT_UNWRITABLE'],
    ['model', 'model', 'OUTPUT_UNWRITABLE'],
  ] as const) {
    await expectRejection(run(output, { model: join(folder, from) }), code);
  }
});
