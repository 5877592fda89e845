import { describe, expect, test } from '@jest/globals';

import {
  cacheBytes,
  checkCacheFits,
  checkPlanFits,
  memoryPlan,
  planInWords,
  type MemoryRequest,
  packsWeights,
} from '#agent_rl/engine-thread/memory-plan.ts';
import { plannedBytes } from '#agent_rl/engine/onnx/peak-bytes.ts';
import { longestShape } from '#agent_rl/learner/batch-shape.ts';
import { scoreBody, trainBody } from '#agent_rl/learner/train-program.ts';
import { memorySettings } from '#agent_rl/engine-thread/engine-options.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import type { Adapter, ModelConfig } from '#model/config/architecture.ts';
import { adapterTargets } from '#model/adapters/adapter.ts';
import { parameterCount } from '#model/config/parameters.ts';
import { tinyAdapter } from '#tests/support/tiny-adapter.ts';
import { thrownBy } from '#tests/support/thrown.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const loss: LossSpec = {
  name: 'policy',
  type: 'clipped',
  settings: { clipLow: 0.2, clipHigh: 0.2 },
  kl: { kind: 'k3', weight: 0.1 },
  temperature: 1,
};
const request: MemoryRequest = {
  rows: 3,
  maxContextTokens: 64,
  memory: { recompute: 'none', logitBytes: 2 ** 28 },
  training: { microBatchTokens: 256, longestTokens: 64, loss, reference: true },
};
const { training: _training, ...sampling } = request;
const targets = adapterTargets(['q_proj']);
const adapter: Adapter = { ...tinyAdapter, rank: 2, dropout: 0, targets };
const adapted: ModelConfig = { ...tinyModelConfig, adapters: [adapter] };
const weightBytes = 4 * parameterCount(tinyModelConfig);
/** q_proj is [32, 16]: A [2, 16] and B [32, 2] in each of two layers. */
const adapterBytes = 4 * 2 * (2 * 16 + 32 * 2);

describe('A memory plan', () => {
  test('counts weights twice, with gradients and moments, when all are trained beside a reference', async () => {
    const { total, ...parts } = await memoryPlan(tinyModelConfig, request);
    expect(parts).toMatchObject({
      weights: 2 * weightBytes,
      optimizer: 4 * weightBytes,
      // Keys and values of 3 rows x 2 layers x 2 heads x 64 positions x 8 numbers, and as much again for what episodes share.
      cache: 2 * 2 * 4 * 3 * 2 * 2 * 64 * 8,
    });
    expect(total).toBe(Object.values(parts).reduce((sum, part) => sum + part, 0));
  });

  test("counts the weights once for an adapter, and only the adapter's moments", async () => {
    const plan = await memoryPlan(adapted, request);
    expect(plan.weights).toBe(weightBytes + adapterBytes);
    expect(plan.optimizer).toBe(4 * adapterBytes);
    expect(await memoryPlan(adapted, sampling)).toMatchObject({ optimizer: 0 });
  });

  test('counts the packed weights of four programs for each drawing thread', async () => {
    const runtimeOf = async (config: ModelConfig, changes: Partial<MemoryRequest>) =>
      (await memoryPlan(config, { ...sampling, ...changes })).runtime;
    const head = 4 * tinyModelConfig.vocabSize * tinyModelConfig.hiddenSize;
    const more = async (config: ModelConfig, decoders: number) =>
      (await runtimeOf(config, { decoders, packs: true })) -
      (await runtimeOf(config, { decoders }));
    expect(await more(tinyModelConfig, 2)).toBe(2 * (weightBytes + head));
    expect(await more({ ...tinyModelConfig, tiedEmbeddings: false }, 1)).toBe(weightBytes + head);
  });

  test.each([
    ['all', 'on request, on the processor, if the copy takes a quarter of the memory', {}, 0],
    [undefined, 'if it takes more', {}, -1],
    [undefined, 'on another device', { device: 'webgpu' }, 0],
    [undefined, 'without a request', { packs: false }, 0],
  ])('packs weights: %s, %s', (packs, _, changed, more) => {
    const head = 4 * tinyModelConfig.vocabSize * tinyModelConfig.hiddenSize;
    const has = 4 * (weightBytes + head) + more;
    const asked = { packs: true, device: 'cpu', ...changed };
    expect(packsWeights(tinyModelConfig, asked, has)).toBe(packs);
  });

  test('packs the weights under an adapter without a request, and none in four bits', () => {
    const packs = (config: ModelConfig, asked = false) =>
      packsWeights(config, { packs: asked, device: 'cpu' }, Infinity);
    expect(packs(tinyModelConfig)).toBeUndefined();
    expect(packs({ ...tinyModelConfig, adapters: [tinyAdapter] })).toBe('under the adapter');
    const quantized = { ...tinyModelConfig, quantization: { bits: 4, blockSize: 16 } as const };
    expect(packs({ ...quantized, adapters: [tinyAdapter] }, true)).toBeUndefined();
  });

  test('counts four-bit weights as half a byte, plus their scales', async () => {
    const wide = { ...tinyModelConfig, hiddenSize: 32, vocabSize: 64 };
    const quantization = { bits: 4, blockSize: 16 } as const;
    const whole = await memoryPlan(wide, sampling);
    const packed = await memoryPlan({ ...wide, quantization }, sampling);
    // A layer's linear weights: 32 x (32 + 16 + 16 + 32) + 3 x 32 x 32. In blocks of 16: 8 bytes and a scale of 4.
    const linear = 2 * (32 * 96 + 3 * 32 * 32);
    expect(whole.weights - packed.weights).toBe(linear * 4 - (linear / 16) * 12);
  });

  test('grows with the tokens of a micro-batch, and less when layers are recomputed', async () => {
    const deep = { ...adapted, layers: 12 };
    const activations = async (microBatchTokens: number, recompute: 'none' | 'blocks') => {
      const training = { ...request.training!, microBatchTokens };
      const memory = { ...request.memory, recompute };
      return (await memoryPlan(deep, { ...request, training, memory })).activations;
    };
    const kept = await activations(1024, 'none');
    expect(kept).toBeGreaterThan(1.8 * (await activations(512, 'none')));
    expect(await activations(1024, 'blocks')).toBeLessThan(0.5 * kept);
  });

  test('grows when rows may be trees of twice the longest sequence, which dropout rules out', async () => {
    const activations = async (config: ModelConfig, prefixTrees: boolean) =>
      (await memoryPlan(config, { ...request, prefixTrees })).activations;
    const apart = await activations(adapted, false);
    expect(await activations(adapted, true)).toBeGreaterThan(apart);
    const [own] = adapted.adapters!;
    const dropping = { ...adapted, adapters: [{ ...own!, dropout: 0.1 }] };
    expect(await activations(dropping, true)).toBe(await activations(dropping, false));
  });

  test.each([
    ['layers kept', tinyModelConfig, 'none'],
    ['layers computed again', tinyModelConfig, 'blocks'],
    ['an adapter', adapted, 'blocks'],
    ['a large vocabulary', { ...tinyModelConfig, vocabSize: 5000 }, 'blocks'],
  ] as const)(
    'ignores the smaller pass of a KL term or a correction: %s',
    async (_, config, recompute) => {
      const memory = { ...request.memory, recompute };
      const shape = longestShape({ longestTokens: 64, microBatchTokens: 256 });
      const scored = plannedBytes(scoreBody(config, { shape, temperature: 1, memory }));
      const trained = plannedBytes(await trainBody(config, { shape, loss, memory }));
      expect(scored).toBeLessThan(trained);
    },
  );

  test('counts the micro-batches of an engine that only scores, which take less than training', async () => {
    const scores = { microBatchTokens: 256, longestTokens: 64 };
    const scoring = await memoryPlan(tinyModelConfig, { ...sampling, scores, prefixTrees: false });
    const shape = longestShape({ longestTokens: 64, microBatchTokens: 256 });
    const { memory } = request;
    const program = scoreBody(tinyModelConfig, { shape, temperature: 1, memory });
    expect(scoring.activations).toBe(plannedBytes(program));
    expect(scoring.optimizer).toBe(0);
    const drawing = await memoryPlan(tinyModelConfig, sampling);
    const training = await memoryPlan(tinyModelConfig, request);
    expect(scoring.activations).toBeGreaterThan(drawing.activations);
    expect(scoring.activations).toBeLessThan(training.activations);
  });

  test('is refused when it does not fit beside the other engines', async () => {
    const plan = await memoryPlan(tinyModelConfig, sampling);
    const has = plan.total + 2 ** 20;
    const refuse = (beside: number) =>
      checkPlanFits(plan, tinyModelConfig, { ...sampling, beside }, has);
    expect(() => refuse(2 ** 20)).not.toThrow();
    const { message } = thrownBy(() => refuse(2 ** 20 + 1));
    expect(message).toMatch(/^This model would need about .* the 1 MiB of the run's other models/);
    // It is not the model that model.quantize is about.
    expect(message).not.toContain('model.quantize');
  });

  test('names every part and every remedy when it does not fit', async () => {
    const plan = await memoryPlan(tinyModelConfig, request);
    expect(() => checkPlanFits(plan, tinyModelConfig, request, plan.total)).not.toThrow();
    const error = thrownBy(() => checkPlanFits(plan, tinyModelConfig, request, plan.total - 1));
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(error.message).toContain(planInWords(plan));
    const remedies = ['train.recompute: blocks', 'model.lora', 'model.quantize: 4bit'];
    for (const remedy of ['algorithm.microBatchTokens', 'rollout.workers', ...remedies])
      expect(error.message).toContain(remedy);
  });

  test('is made quickly for a model that is far too large', async () => {
    const training = { ...request.training!, microBatchTokens: 64e9 };
    const plan = await memoryPlan(tinyModelConfig, { ...request, training }, 2 ** 40);
    // 64e9 tokens x 16 numbers x 2 layers.
    expect(plan.activations).toBe(4 * 64e9 * 16 * 2);
  });

  const demonstrations = { ...request.training!, loss: { name: 'cross_entropy' } as const };
  test.each<[string, ModelConfig, MemoryRequest, RegExp, string[]]>([
    [
      'the largest saving first, for an adapter its rank',
      { ...tinyModelConfig, adapters: [{ ...adapter, rank: 100_000 }] },
      request,
      /largest first: lower algorithm\.microBatchTokens .* lower model\.lora\.rank/,
      ['train an adapter instead'],
    ],
    [
      'no episode settings when it trains on demonstrations',
      tinyModelConfig,
      { ...request, training: demonstrations },
      /lower algorithm\.microBatchTokens, or remove the longest/,
      ['rollout.'],
    ],
    [
      'nothing that would have no effect',
      { ...adapted, quantization: { bits: 4, blockSize: 16 } },
      sampling,
      /^/,
      ['microBatchTokens', 'recompute', 'model.lora', 'model.quantize'],
    ],
  ])('advises %s', async (_, config, asked, ...[advice, useless]) => {
    const plan = await memoryPlan(config, asked);
    const { message } = thrownBy(() => checkPlanFits(plan, config, asked, 1));
    expect(message).toMatch(advice);
    for (const word of useless) expect(message).not.toContain(word);
  });

  test('names the settings of memory', () => {
    expect(memorySettings({ training: demonstrations })).toBe('algorithm.microBatchTokens');
    expect(memorySettings(request)).toContain('rollout.workers');
  });
});

describe('The cache check', () => {
  const model = { ...tinyModelConfig, layers: 2, kvHeads: 1, headDim: 4, maxPositions: 64 };

  test('counts 4 bytes for the key and value of each layer, head, position and episode', () => {
    // 2 x 4 bytes x 3 episodes x 2 layers x 1 head x 16 positions x 4 numbers.
    expect(cacheBytes(model, { workers: 3, maxContextTokens: 16 })).toBe(3072);
  });

  test('refuses contexts longer than the positions of the model', () => {
    const check = () => checkCacheFits(model, { workers: 1, maxContextTokens: 80 });
    expect(check).toThrow('Use at most 64.');
  });

  test('refuses a cache larger than the memory of the machine and accepts one that just fits', () => {
    const check = (has: number) => () =>
      checkCacheFits(model, { workers: 3, maxContextTokens: 16 }, has);
    expect(check(3071)).toThrow('3 episodes (rollout.workers) of 16 tokens');
    expect(check(3072)).not.toThrow();
  });
});
