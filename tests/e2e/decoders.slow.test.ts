import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import {
  type Generation,
  type GenerationTotals,
  type Generator,
  unbiased,
} from '#agent_rl/core/services/generator.ts';
import { EngineClient } from '#agent_rl/engine-thread/engine-client.ts';
import type { EngineServiceOptions } from '#agent_rl/engine-thread/engine-options.ts';
import { EngineService } from '#agent_rl/engine-thread/engine-service.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { learnOnce, saveTinyModel, tinyEngine } from '../support/tiny-engine.ts';
import { tinyModelConfig as config } from '../support/tiny-model.ts';

const root = temporaryFolder();
const [modelFolder, otherFolder] = [join(root, 'model'), join(root, 'other')];
const options = { ...tinyEngine(modelFolder), threads: 2, rows: 6, decoders: 2 };
beforeAll(() => Promise.all([saveTinyModel(modelFolder, 1), saveTinyModel(otherFolder, 2)]));

const engines: EngineClient[] = [];
const open = async (changes: Partial<EngineServiceOptions> = {}): Promise<EngineClient> => {
  const engine = await EngineClient.open({ ...options, ...changes });
  engines.push(engine);
  return engine;
};
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

/** Two turns of some episodes at once. */
const twoTurns = (generator: Generator, episodes = 6): Promise<Generation[][]> =>
  Promise.all(
    Array.from({ length: episodes }, async (_, sample) => {
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

describe('Two decoder threads', () => {
  test('two threads share the episodes and sample exactly what one thread samples', async () => {
    const [one, two] = [await open({ decoders: 1, threads: 1 }), await open()];
    expect(await twoTurns(two.generator)).toEqual(await twoTurns(one.generator));
    const [alone, own, together] = await Promise.all([
      one.generator.totals(),
      two.info(),
      two.generator.totals(),
    ]);
    expect(together.sampledTokens).toBe(alone.sampledTokens);
    // What is computed once by one thread may be computed by both of two.
    const taken = ({ fedTokens, sharedTokens }: GenerationTotals): number =>
      fedTokens + sharedTokens;
    expect(taken(own.totals)).toBe(taken(alone));
    expect(own.totals.fedTokens).toBeGreaterThanOrEqual(alone.fedTokens);
  });

  // A matrix product that several threads divide rounds differently, which can change a token.
  test('any number of threads samples the same tokens', async () => {
    const drawn = async (changes: Partial<EngineServiceOptions>): Promise<Generation[][]> => {
      const shipped = { modelFolder: join(packageRoot(), 'model/workspace-starter'), rows: 32 };
      const { generator } = await open({ ...shipped, maxContextTokens: 128, ...changes });
      return twoTurns(generator, 32);
    };
    const alone = await drawn({ threads: 1, decoders: 1 });
    for (const decoders of [1, 2, 4]) expect(await drawn({ threads: 4, decoders })).toEqual(alone);
    // Packed weights are summed up otherwise, by all threads alike.
    const packed = await drawn({ threads: 1, decoders: 1, packs: true });
    expect(packed).not.toEqual(alone);
    expect(await drawn({ threads: 4, decoders: 4, packs: true })).toEqual(packed);
    const { generator } = await open({ packs: true });
    expect((await generator.describe()).name).toBe('engine on cpu, weights packed');
  });

  test('two threads use new weights once these are published', async () => {
    const drawn = async (changes: Partial<EngineServiceOptions>): Promise<Generation[]> => {
      const { generator, learner } = await open(changes);
      await twoTurns(generator);
      await learnOnce(learner);
      await generator.use(await learner.exportWeights({ kind: 'memory' }));
      return (await twoTurns(generator)).flat();
    };
    const [one, two] = [await drawn({ decoders: 1, threads: 1 }), await drawn({ threads: 1 })];
    expect(two).toEqual(one);
    expect(two.map(({ version }) => version)).toEqual(two.map(() => 1));
  });
});

test('an engine shares the weights that it samples from, also those loaded from files', async () => {
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
