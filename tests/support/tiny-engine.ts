import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { batchOf } from '#agent_rl/core/services/batch.ts';
import type { Learner } from '#agent_rl/core/services/learner.ts';
import type { EngineServiceOptions } from '#agent_rl/engine-thread/engine-options.ts';
import { initialParameters } from '#model/config/parameters.ts';
import { saveModel } from '#model/weights/load-model.ts';
import { tinyModelConfig } from './tiny-model.ts';

/** Writes the tiny model with weights of a seed to a folder. */
export const saveTinyModel = (folder: string, seed: number): Promise<void> =>
  saveModel(folder, {
    config: tinyModelConfig,
    parameters: initialParameters(tinyModelConfig, new KeyedRng(seed)),
    storedDtype: 'F32',
  });

/** An engine that learns by supervision and draws, on the model of a folder. */
export const tinyEngine = (modelFolder: string): EngineServiceOptions => ({
  modelFolder,
  seed: 1,
  device: 'cpu',
  threads: 1,
  rows: 4,
  maxContextTokens: 64,
  microBatchTokens: 64,
  reference: false,
  training: { longestTokens: 64, loss: { name: 'cross_entropy' } },
});

/** One step of supervised learning, large enough to change what is drawn. */
export async function learnOnce(
  learner: Learner,
  tokens: Int32Array = Int32Array.from([5, 6, 7, 8, 9]),
): Promise<void> {
  const { length } = tokens;
  const weights = new Float32Array(length).fill(0.25, 1);
  const zeros = new Float32Array(length);
  const datum = { tokens, weights, advantages: zeros, oldLogProbs: zeros };
  await learner.forwardBackward(batchOf([datum]), { name: 'cross_entropy' });
  const adam = { beta1: 0.9, beta2: 0.99, eps: 1e-8, weightDecay: 0 };
  await learner.optimStep({ learningRate: 0.1, ...adam, maxGradNorm: 1 });
}
