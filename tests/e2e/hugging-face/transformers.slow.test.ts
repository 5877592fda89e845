import path from 'node:path';
import { batchOf } from '#agent_rl/core/services/batch.ts';
import { readdirSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import { loadModel } from '#model/weights/load-model.ts';
import { parameterSpecs } from '#model/config/parameters.ts';
import {
  greedyTokens,
  huggingFaceFolder,
  largestDifference,
  logProbsOf,
  relativeDifference,
  report,
  sharedEngine,
  storedBatch,
  storedJson,
  storedLoss,
  storedTensors,
} from '#tests/support/hugging-face.ts';

interface Reference {
  loss: number;
  lossSpec: Parameters<typeof storedLoss>[0];
  greedy: readonly {
    prompt: readonly number[];
    tokens: readonly number[];
  }[];
}

const { engine, learnerOf } = sharedEngine();

const names = readdirSync(path.join(huggingFaceFolder, 'models')).toSorted();

async function open(name: string) {
  const model = await loadModel(path.join(huggingFaceFolder, 'models', name));
  const learner = learnerOf(model.config, model.parameters);
  return { model, learner, stored: await storedTensors('models', name, 'reference.safetensors') };
}

describe.each(names)('The model %s', (name) => {
  const reference = storedJson('models', name, 'reference.json') as Reference;

  test('log-probabilities of 20 sequences of up to 512 tokens match transformers', async () => {
    const { learner, stored } = await open(name);
    const logProbs = largestDifference(await logProbsOf(learner), stored.get('logProbs')!);
    await learner.close();
    report({ model: name, logProbs });
    expect(logProbs).toBeLessThanOrEqual(1e-4);
  });

  test('64 greedy tokens of three prompts match transformers', async () => {
    const { model } = await open(name);
    const prompts = reference.greedy.map(({ prompt }) => prompt);
    expect(prompts).toHaveLength(3);
    const generated = await greedyTokens(engine(), model, prompts);
    expect(generated).toEqual(reference.greedy.map(({ tokens }) => tokens));
  });

  test('the GRPO loss and its gradient with respect to every tensor match transformers', async () => {
    const { model, learner, stored } = await open(name);
    const { loss } = await learner.forwardBackward(
      batchOf(storedBatch(stored)),
      storedLoss(reference.lossSpec),
    );
    const gradients = parameterSpecs(model.config).map(({ name: tensor }) => ({
      tensor,
      difference: relativeDifference(learner.gradientOf(tensor), stored.get(`gradient.${tensor}`)!),
    }));
    await learner.close();
    expect(gradients).toHaveLength(
      [...stored.keys()].filter((key) => key.startsWith('gradient.')).length,
    );
    report({
      model: name,
      loss: Math.abs(loss - reference.loss),
      gradient: Math.max(...gradients.map(({ difference }) => difference)),
    });
    expect(Math.abs(loss - reference.loss)).toBeLessThanOrEqual(1e-5);
    expect(gradients.filter(({ difference }) => !(difference <= 1e-3))).toEqual([]);
  });
});
