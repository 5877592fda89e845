import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { batchOf, type TrainDatum } from '#agent_rl/core/services/batch.ts';
import { type Generation, type Generator, unbiased } from '#agent_rl/core/services/generator.ts';
import { EngineClient } from '#agent_rl/engine-thread/engine-client.ts';
import type { EngineServiceOptions } from '#agent_rl/engine-thread/engine-options.ts';
import { EngineService } from '#agent_rl/engine-thread/engine-service.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { tinyModelConfig as config } from '../support/tiny-model.ts';

const root = temporaryFolder();
const [modelFolder, otherFolder] = [join(root, 'model'), join(root, 'other')];
const options: EngineServiceOptions = {
  modelFolder,
  seed: 1,
  device: 'cpu',
  threads: 2,
  rows: 6,
  decoders: 2,
  maxContextTokens: 64,
  microBatchTokens: 64,
  reference: false,
  training: { longestTokens: 64, loss: { name: 'cross_entropy' } },
};

const saved = (folder: string, seed: number) =>
  saveModel(folder, {
    config,
    parameters: initialParameters(config, new KeyedRng(seed)),
    storedDtype: 'F32',
  });
beforeAll(() => Promise.all([saved(modelFolder, 1), saved(otherFolder, 2)]));

const datum: TrainDatum = {
  tokens: Int32Array.from([5, 6, 7, 8, 9]),
  weights: new Float32Array(5).fill(0.25, 1),
  advantages: new Float32Array(5),
  oldLogProbs: new Float32Array(5),
};
const rates = {
  learningRate: 0.1,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: 1,
};

const engines: EngineClient[] = [];
const open = async (changes: Partial<EngineServiceOptions> = {}): Promise<EngineClient> => {
  const engine = await EngineClient.open({ ...options, ...changes });
  engines.push(engine);
  return engine;
};
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

/** Two turns of some episodes at once. */
const twoTurns = (generator: Generator): Promise<Generation[][]> =>
  Promise.all(
    Array.from({ length: 6 }, async (_, sample) => {
      const turn = (number: number, tokens: readonly number[]) =>
        generator.generate({
          episode: `episode ${sample}`,
          tokens,
          maxTokens: 5 + sample,
          stopTokens: [],
          sampling: unbiased,
          key: { seed: 1, taskId: 'task', sample, turn: number },
        });
      const prompt = [1, 2, 3];
      const first = await turn(0, prompt);
      const second = await turn(1, [...prompt, ...first.tokens, 7, 8]);
      generator.release(`episode ${sample}`);
      return [first, second];
    }),
  );

describeGeneratorContract('the generator of an engine with two decoders', {
  open: async () => {
    const engine = await EngineClient.open(options);
    return { ...engine.generator, close: () => engine.close() };
  },
  vocabSize: config.vocabSize,
  weights: [modelFolder, otherFolder],
});

describe('two threads that draw', () => {
  test('draw what one draws, bit for bit, and share the episodes', async () => {
    const [one, two] = [await open({ decoders: 1, threads: 1 }), await open()];
    expect(await twoTurns(two.generator)).toEqual(await twoTurns(one.generator));
    const [alone, own, together] = await Promise.all([
      one.generator.totals(),
      two.info(),
      two.generator.totals(),
    ]);
    expect(together.sampledTokens).toBe(alone.sampledTokens);
    expect(own.totals.fedTokens).toBe(alone.fedTokens);
    // Each step feeds the rows of one thread.
    expect(together.steps).toBeGreaterThan(alone.steps);
  });

  test('draw from new weights once they are published', async () => {
    const drawn = async (changes: Partial<EngineServiceOptions>): Promise<Generation[]> => {
      const { generator, learner } = await open(changes);
      await twoTurns(generator);
      await learner.forwardBackward(batchOf([datum]), { name: 'cross_entropy' });
      await learner.optimStep(rates);
      await generator.use(await learner.exportWeights({ kind: 'memory' }));
      return (await twoTurns(generator)).flat();
    };
    const [one, two] = [await drawn({ decoders: 1, threads: 1 }), await drawn({ threads: 1 })];
    expect(two).toEqual(one);
    expect(two.map(({ version }) => version)).toEqual(two.map(() => 1));
  });
});

test('what an engine shares is what it draws from, weights that came as files too', async () => {
  const service = await EngineService.open({ ...options, decoders: 1 });
  try {
    expect(service.share().version).toBe(0);
    await service.use({ version: 5, kind: 'folder', location: otherFolder });
    const { weights, version } = service.share();
    expect(version).toBe(5);
    for (const [name, values] of initialParameters(config, new KeyedRng(2)))
      expect(weights.get(name)).toEqual(values);
  } finally {
    await service.close();
  }
});
