import { batchOf } from '#agent_rl/core/services/batch.ts';
import path from 'node:path';
import { readdirSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import { readAdapterConfig, readAdapterWeights } from '#model/adapters/adapter-files.ts';
import { adapterSpecs } from '#model/adapters/adapter.ts';
import { loadModel } from '#model/weights/load-model.ts';
import { requireFloats } from '#model/config/parameters.ts';
import {
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
import { mergedInLoops } from '#tests/support/tiny-adapter.ts';

interface Reference {
  base: string;
  loss: number;
  lossSpec: Parameters<typeof storedLoss>[0];
}

/** That of the stored step. */
const adam = {
  learningRate: 1e-2,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: Infinity,
};

const { learnerOf } = sharedEngine();

const names = readdirSync(path.join(huggingFaceFolder, 'adapters')).toSorted();

async function open(name: string) {
  const reference = storedJson('adapters', name, 'reference.json') as Reference;
  const folder = path.join(huggingFaceFolder, 'adapters', name);
  const base = await loadModel(path.join(huggingFaceFolder, 'models', reference.base));
  const { adapter } = await readAdapterConfig(folder, 'own');
  const weights = await readAdapterWeights(folder, base.config, adapter);
  const parameters = new Map([...base.parameters, ...weights]);
  const learner = learnerOf({ ...base.config, adapters: [adapter] }, parameters, {
    baseModel: reference.base,
    seed: 0,
  });
  const stored = await storedTensors('adapters', name, 'reference.safetensors');
  return { reference, base, adapter, weights, learner, stored };
}

const peftName = (name: string) => `base_model.model.${name.replace('.own.', '.')}`;

describe.each(names)('The adapter %s', (name) => {
  test('log-probabilities of 20 sequences match PEFT and differ from the base model', async () => {
    const { reference, learner, stored } = await open(name);
    const logProbs = largestDifference(await logProbsOf(learner), stored.get('logProbs')!);
    await learner.close();
    report({ adapter: name, logProbs });
    expect(logProbs).toBeLessThanOrEqual(1e-4);
    const without = await storedTensors('models', reference.base, 'reference.safetensors');
    expect(largestDifference(without.get('logProbs')!, stored.get('logProbs')!)).toBeGreaterThan(1);
  });

  test('gradients of A and B, and their values after one AdamW step, match PEFT', async () => {
    const { reference, base, adapter, weights, learner, stored } = await open(name);
    const batch = storedBatch(stored);
    const { loss } = await learner.forwardBackward(batchOf(batch), storedLoss(reference.lossSpec));
    const tensors = adapterSpecs(base.config, adapter).map((spec) => spec.name);
    const gradients = tensors.map((tensor) =>
      relativeDifference(learner.gradientOf(tensor), stored.get(`gradient.${peftName(tensor)}`)!),
    );
    const before = tensors.map((tensor) => Float32Array.from(weights.get(tensor)!));
    await learner.optimStep(adam);
    const after = tensors.map((tensor) => stored.get(`stepped.${peftName(tensor)}`)!);
    const steps = tensors.map((tensor, i) => largestDifference(weights.get(tensor)!, after[i]!));
    await learner.close();
    const worst = { gradient: Math.max(...gradients), step: Math.max(...steps) };
    report({ adapter: name, ...worst, loss: Math.abs(loss - reference.loss) });
    expect(Math.abs(loss - reference.loss)).toBeLessThanOrEqual(1e-5);
    expect(worst.gradient).toBeLessThanOrEqual(1e-3);
    expect(worst.step).toBeLessThanOrEqual(1e-4);
    // The first step of Adam moves every element by about the learning rate.
    const moved = before.map((values, i) => largestDifference(values, after[i]!));
    expect(Math.min(...moved)).toBeGreaterThan(9e-3);
  });

  test('log-probabilities of the merged model equal those with the adapter', async () => {
    const { base, adapter, weights, learner, stored } = await open(name);
    const floats = requireFloats(base.parameters);
    const whole = mergedInLoops(floats, weights, base.config, adapter);
    const mergedLearner = learnerOf(base.config, whole);
    const apart = await logProbsOf(learner);
    const together = await logProbsOf(mergedLearner);
    await Promise.all([learner.close(), mergedLearner.close()]);
    const mergedLogProbs = largestDifference(together, stored.get('merged.logProbs')!);
    const mergedUnmerged = largestDifference(together, apart);
    const peftsOwn = largestDifference(stored.get('merged.logProbs')!, stored.get('logProbs')!);
    report({ adapter: name, mergedLogProbs, mergedUnmerged, peftsOwn });
    expect(mergedLogProbs).toBeLessThanOrEqual(1e-4);
    expect(mergedUnmerged).toBeLessThanOrEqual(1e-5);
  });
});
