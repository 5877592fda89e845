import { describe, expect, test } from '@jest/globals';

import { planText, trainingPlan } from '../../../../agent_rl/compose/training-plan.ts';
import { loadConfig } from '../../../../agent_rl/config/index.ts';
import { temporaryFolder, writeBelow } from '../../../support/temporary-folder.ts';

const mebibyte = 2 ** 20;
const facts = {
  trainTasks: 40,
  evalTasks: 10,
  parameters: 2_097_152,
  trainedParameters: 2_097_152,
  cacheBytes: 64 * mebibyte,
  sandboxes: 2,
  layers: 1,
  heads: 2,
  hiddenSize: 8,
  intermediateSize: 16,
};

const folder = temporaryFolder();

function configOf(text: string) {
  const path = writeBelow(folder, 'run.yaml', text);
  return loadConfig({ file: path, overrides: [] }).config;
}

const settings = `
rollout: {tasksPerStep: 4, groupSize: 8, maxEpisodeTokens: 256}
policy: {maxContextTokens: 512}
algorithm: {epochs: 2, microBatchTokens: 1024}
train: {iterations: 6}
eval: {every: 2, samples: 1}
environment: {type: code_exec}
dataset: {dir: tasks}
tools: [{type: code_exec}]
`;

describe('a plan', () => {
  test('counts rollouts, steps, micro-batches and evaluations', () => {
    const plan = trainingPlan(configOf(settings), facts);
    expect(plan).toMatchObject({
      rolloutsPerIteration: 32,
      rollouts: 192,
      optimizerSteps: 12,
      // 32 x 256 tokens in micro-batches of 1024.
      mostMicroBatchesPerStep: 8,
      // Before, after, and at iterations 2 and 4: that of the last is the one after.
      evaluations: 4,
      evalEpisodes: 10,
    });
  });

  test('adds up weights, cache, activations and the sandboxes there will be', () => {
    const { memoryBytes } = trainingPlan(configOf(settings), facts);
    expect(memoryBytes).toEqual({
      // Weights, gradient sums and two moments, of 4 bytes.
      weightsAndOptimizer: 32 * mebibyte,
      cache: 64 * mebibyte,
      // 4 bytes x 1024 tokens x (14 x 8 + 4 x 16 + 4 x 2 x 256) numbers x 1 layer.
      activations: 4 * 1024 * 2224,
      sandboxes: 460 * mebibyte,
    });
  });

  test('says how much of the model is trained', () => {
    const config = configOf(settings);
    const text = (trainedParameters: number): string => {
      const given = { ...facts, trainedParameters };
      return planText(config, given, trainingPlan(config, given), 12);
    };
    expect(text(facts.parameters)).toContain('  trained       2.10 M of them, 100 %\n');
    // 32,256 of 2,097,152.
    expect(text(32_256)).toContain('  trained       0.03 M of them, 1.54 %\n');
  });

  test('warns of more memory than the machine has', () => {
    const config = configOf(settings);
    const text = (sandboxes: number): string => {
      const given = { ...facts, sandboxes };
      return planText(config, given, trainingPlan(config, given), 12);
    };
    expect(text(0)).not.toContain('warning');
    expect(text(1e6)).toContain('that is more than the');
  });
});
