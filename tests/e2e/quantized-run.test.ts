import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { EngineService } from '#agent_rl/engine-thread/engine-service.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { loadModel, saveModel } from '#model/weights/load-model.ts';
import { smallModelConfig, writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';
import { learnOnce } from '../support/tiny-engine.ts';

const folder = temporaryFolder();
const quantization = { bits: 4, blockSize: 16 } as const;
const floats = join(folder, 'floats');
const bytes = join(folder, 'bytes');

beforeAll(async () => {
  for (const to of [floats, bytes]) await writeSmallModel(to, { ...smallModelConfig, layers: 2 });
  await saveModel(bytes, await loadModel(floats, { quantize: quantization }));
});

const planned = (overrides: Readonly<Record<string, unknown>>) =>
  trainAgent({
    config: join(packageRoot(), 'configs', 'code_exec_grpo.yaml'),
    overrides,
    dryRun: true,
  });

describe('A run over four-bit weights', () => {
  test.each([
    [
      'quantised at load',
      { 'model.quantize': '4bit', 'model.quantizeBlockSize': 16 },
      () => floats,
    ],
    ['quantised in its folder', {}, () => bytes],
  ])('is refused at the start without an adapter: %s', async (_title, overrides, model) => {
    for (const mode of ['rl', 'sft']) {
      const { code, message } = await rejectionOf(
        planned({ ...overrides, 'model.path': model(), 'train.mode': mode }),
      );
      expect(code).toBe('CONFIG_INVALID');
      expect(message).toMatch(/quantised to four bits.*model\.lora/);
    }
  });

  test('is refused when blocks do not divide the layers or the model is already quantised', async () => {
    const overrides = { 'model.quantize': '4bit', 'model.lora.rank': 2 };
    const uneven = await rejectionOf(planned({ ...overrides, 'model.path': floats }));
    expect(uneven.code).toBe('MODEL_INVALID');
    expect(uneven.message).toContain('not a multiple of the block size 64');
    const twice = await rejectionOf(
      planned({ ...overrides, 'model.path': bytes, 'model.quantizeBlockSize': 16 }),
    );
    expect(twice.message).toContain('quantised already');
  });
});

describe('An engine over four-bit weights', () => {
  const open = (modelFolder: string, quantize?: typeof quantization) =>
    EngineService.open({
      modelFolder,
      quantize,
      newAdapter: {
        rank: 2,
        alpha: 4,
        dropout: 0,
        rankStabilised: false,
        targets: ['mlp.down_proj'],
        seed: 1,
      },
      seed: 1,
      device: 'cpu',
      threads: 1,
      rows: 1,
      maxContextTokens: 64,
      microBatchTokens: 64,
      reference: true,
    });
  const tokens = [Int32Array.of(1, 40, 300, 7, 9)];

  test('scores the same whether weights were quantised before or at load, and trains only the adapter', async () => {
    const own = await open(floats, quantization);
    const stored = await open(bytes);
    const scored = await own.learner.forward(tokens, { temperature: 1, which: 'policy' });
    expect(await stored.learner.forward(tokens, { temperature: 1, which: 'policy' })).toEqual(
      scored,
    );
    const plain = await EngineService.open({
      modelFolder: floats,
      seed: 1,
      device: 'cpu',
      threads: 1,
      rows: 1,
      maxContextTokens: 64,
      microBatchTokens: 64,
      reference: false,
    });
    const { parameters } = plain.info();
    const adapter = 2 * 2 * (16 + 32);
    expect(own.info()).toMatchObject({
      parameters: parameters + adapter,
      trainedParameters: adapter,
    });
    await learnOnce(own.learner, tokens[0]);
    await own.use(await own.learner.exportWeights({ kind: 'memory' }));
    const [after] = await own.learner.forward(tokens, { temperature: 1, which: 'policy' });
    expect(after).not.toEqual(scored[0]);
    const reference = await own.learner.forward(tokens, { temperature: 1, which: 'reference' });
    expect(reference).toEqual(scored);
    await Promise.all([own, stored, plain].map((service) => service.close()));
  });
});
