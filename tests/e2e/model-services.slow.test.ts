import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Generation, Generator } from '#agent_rl/core/services/generator.ts';
import type { Learner } from '#agent_rl/core/services/learner.ts';
import { WeightBus } from '#agent_rl/core/services/weight-bus.ts';
import { EngineClient } from '#agent_rl/engine-thread/engine-client.ts';
import type { EngineServiceOptions } from '#agent_rl/engine-thread/engine-options.ts';
import { EngineService } from '#agent_rl/engine-thread/engine-service.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { describeLearnerContract } from '../contracts/learner-contract.ts';
import { request } from '../support/generation-request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { learnOnce, saveTinyModel, tinyEngine } from '../support/tiny-engine.ts';
import { tinyModelConfig } from '../support/tiny-model.ts';

const root = temporaryFolder();
const modelFolder = join(root, 'model');
const { vocabSize } = tinyModelConfig;

const options = tinyEngine(modelFolder);
const single = { threads: 1, rows: 6, decoders: 1 };
const several = { threads: 2, rows: 6, decoders: 2 };

const otherFolder = join(root, 'other');
beforeAll(() => Promise.all([saveTinyModel(modelFolder, 1), saveTinyModel(otherFolder, 2)]));

/** A part of an engine of its own, which ends with it. */
const part = async <Part extends Generator | Learner>(
  changes: Partial<EngineServiceOptions>,
  of: (engine: EngineClient) => Part,
): Promise<Part> => {
  const engine = await EngineClient.open({ ...options, ...changes });
  return { ...of(engine), close: () => engine.close() };
};

const engines: EngineClient[] = [];
const open = async (changes: Partial<EngineServiceOptions> = {}): Promise<EngineClient> => {
  const engine = await EngineClient.open({ ...options, ...changes });
  engines.push(engine);
  return engine;
};
afterAll(() => Promise.all(engines.map((engine) => engine.close())));

describeGeneratorContract('the generator of the engine', {
  open: () => part({}, ({ generator }) => generator),
  vocabSize,
  weights: [modelFolder, otherFolder],
});
for (const device of ['cpu', 'eager'])
  describeLearnerContract(`the learner of the engine on ${device}`, {
    open: () => part({ device }, ({ learner }) => learner),
    vocabSize,
  });

const firstKey = { seed: 1, taskId: 't', sample: 0, turn: 0 };
const draw = (generator: Generator, episode: string) =>
  generator.generate(request(episode, { maxTokens: 10, key: firstKey }));

describe('Published weights', () => {
  test('weights give the same tokens whether they travel as files or in shared memory', async () => {
    const [own, other] = [await open(), await open()];
    const near = await WeightBus.connect({
      learner: own.learner,
      generators: [own.generator],
      folder: join(root, 'none'),
    });
    const folder = join(root, 'files');
    const far = await WeightBus.connect({
      learner: own.learner,
      generators: [own.generator, other.generator],
      folder,
    });
    await learnOnce(own.learner);
    expect(await near.publish()).toMatchObject({ version: 1, kind: 'memory' });
    const shared = await draw(own.generator, 'shared');
    const sent = await far.publish();
    expect(sent).toMatchObject({ version: 1, kind: 'folder' });
    expect(await draw(other.generator, 'sent')).toEqual(shared);
    await learnOnce(own.learner);
    await far.publish();
    expect((await draw(other.generator, 'later')).version).toBe(2);
    // Of files there are only the newest.
    expect(existsSync(sent.location)).toBe(false);
    await far.close();
    expect(existsSync(join(folder, '2'))).toBe(false);
    expect(existsSync(join(root, 'none'))).toBe(false);
  });

  test('sampling after a step requires that its weights are published', async () => {
    const { generator, learner } = await open();
    await learnOnce(learner);
    await expect(draw(generator, 'early')).rejects.toMatchObject({ code: 'GENERATION_FAILED' });
    await generator.use(await learner.exportWeights({ kind: 'memory' }));
    expect((await draw(generator, 'late')).version).toBe(1);
  });

  test('older weights than the newest are refused', async () => {
    const { generator, learner } = await open();
    const publish = () => learner.exportWeights({ kind: 'memory' });
    const first = await publish();
    await learnOnce(learner);
    await publish();
    await expect(generator.use(first)).rejects.toThrow('it has 1');
  });

  test('weights that cannot reach a generator are refused with the reason', async () => {
    const { learner, generator } = await open();
    const fixed: Generator = {
      ...generator,
      describe: async () => ({ ...(await generator.describe()), name: 'fixed', takes: [] }),
    };
    await expect(WeightBus.connect({ learner, generators: [fixed], folder: root })).rejects.toThrow(
      'generator fixed',
    );
  });
});

/** Two turns of some episodes at once. */
const twoTurns = (generator: Generator, episodes = 6): Promise<Generation[][]> =>
  Promise.all(
    Array.from({ length: episodes }, async (_, sample) => {
      const turn = (number: number, tokens: readonly number[]) =>
        generator.generate(
          request(`episode ${sample}`, {
            tokens,
            maxTokens: 5 + sample,
            key: { seed: 1, taskId: 'task', sample, turn: number },
          }),
        );
      const prompt = [1, 2, 3];
      const first = await turn(0, prompt);
      const second = await turn(1, [...prompt, ...first.tokens, 7, 8]);
      generator.release(`episode ${sample}`);
      return [first, second];
    }),
  );

describeGeneratorContract('the generator of an engine with two decoders', {
  open: () => part(several, ({ generator }) => generator),
  vocabSize,
  weights: [modelFolder, otherFolder],
});

describe('Two decoder threads', () => {
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
    const { generator } = await open({ ...several, packs: true });
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
    const [one, two] = [await drawn(single), await drawn({ ...several, threads: 1 })];
    expect(two).toEqual(one);
    expect(two.map(({ version }) => version)).toEqual(two.map(() => 1));
  });
});

test('an engine shares the weights that it samples from, also those loaded from files', async () => {
  const service = await EngineService.open(options);
  try {
    expect(service.share().version).toBe(0);
    await service.use({ version: 5, kind: 'folder', location: otherFolder });
    const { weights, version } = service.share();
    expect(version).toBe(5);
    for (const [name, values] of initialParameters(tinyModelConfig, new KeyedRng(2)))
      expect(weights.get(name)).toEqual(values);
  } finally {
    await service.close();
  }
});
