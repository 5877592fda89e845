import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type Generator, unbiased } from '#agent_rl/core/services/generator.ts';
import type { Learner } from '#agent_rl/core/services/learner.ts';
import { WeightBus } from '#agent_rl/core/services/weight-bus.ts';
import { EngineClient } from '#agent_rl/engine-thread/engine-client.ts';
import type { EngineServiceOptions } from '#agent_rl/engine-thread/engine-options.ts';
import { describeGeneratorContract } from '../contracts/generator-contract.ts';
import { describeLearnerContract } from '../contracts/learner-contract.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { learnOnce, saveTinyModel, tinyEngine } from '../support/tiny-engine.ts';
import { tinyModelConfig } from '../support/tiny-model.ts';

const root = temporaryFolder();
const modelFolder = join(root, 'model');
const { vocabSize } = tinyModelConfig;

const options = tinyEngine(modelFolder);

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

const draw = (generator: Generator, episode: string) =>
  generator.generate({
    episode,
    tokens: [1, 2, 3],
    maxTokens: 10,
    stopTokens: [],
    sampling: unbiased,
    key: { seed: 1, taskId: 't', sample: 0, turn: 0 },
  });

describe('Published weights', () => {
  const engines: EngineClient[] = [];
  const open = async (changes: Partial<EngineServiceOptions> = {}): Promise<EngineClient> => {
    const engine = await EngineClient.open({ ...options, ...changes });
    engines.push(engine);
    return engine;
  };
  afterAll(() => Promise.all(engines.map((engine) => engine.close())));

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
