import { ModelBlock } from '../blocks/model-block.ts';
import { RolloutBlock } from '../blocks/rollout-block.ts';
import { TrainBlock } from '../blocks/train-block.ts';
import type { Config } from '../config-schema.ts';
import { placeOf, type Places, pointerStep, type Problem } from './problem.ts';
import { runLength } from '../run-length.ts';
import { sandboxProblems } from './sandbox-problems.ts';

/** The config.yaml of a run spells out every default, so only another value was asked for. */
const isDefault = (schema: object, value: unknown): boolean =>
  'default' in schema && value === schema.default;

/** Below it the most likely token is all but certain. */
const leastTemperature = 0.01;

interface Combination {
  /** The setting whose place is shown. */
  path: string;
  /** What is wrong, or `undefined`. */
  problem: (config: Config) => string | undefined;
}

/** What one block's schema cannot see: settings that contradict others, and settings that would do nothing. */
const combinations: readonly Combination[] = [
  {
    path: 'rollout.groupSize',
    problem: ({ rollout, train }) =>
      train.mode === 'rl' && rollout.groupSize < 2
        ? `${rollout.groupSize} leaves an episode nothing to be compared with, so every advantage is 0. Use at least 2.`
        : undefined,
  },
  {
    path: 'policy.sampling.temperature',
    problem: ({ policy, train }) =>
      train.mode === 'rl' && policy.sampling.temperature < leastTemperature
        ? `${policy.sampling.temperature} makes all episodes of a group alike, so every advantage is 0. Use at least ${leastTemperature}.`
        : undefined,
  },
  {
    path: 'model.quantizeBlockSize',
    problem: ({ model }) =>
      model.quantize === 'none' &&
      !isDefault(ModelBlock.properties.quantizeBlockSize, model.quantizeBlockSize)
        ? `${model.quantizeBlockSize} has no effect while model.quantize is none. Set that to 4bit, or leave this out.`
        : undefined,
  },
  {
    path: 'algorithm.kl.weight',
    problem: ({ algorithm: { kl } }) =>
      kl.kind === 'none' && kl.weight > 0
        ? `${kl.weight} has no effect while algorithm.kl.kind is none. Use k1, k2 or k3, or weight 0.`
        : undefined,
  },
  {
    path: 'algorithm.kl.kind',
    problem: ({ algorithm: { kl } }) =>
      kl.kind !== 'none' && kl.weight === 0
        ? `${kl.kind} costs a forward pass and has no effect while algorithm.kl.weight is 0. Use none, or a weight.`
        : undefined,
  },
  {
    path: 'algorithm.rewardScheme',
    problem: ({ algorithm: { rewardScheme }, rewards }) =>
      rewardScheme !== 'weighted' && rewards.length === 0
        ? `${rewardScheme} combines several rewards, and the environment's own is the only one. List others under rewards, or use weighted.`
        : undefined,
  },
  {
    path: 'algorithm.rewardScheme',
    problem: ({ algorithm: { rewardScheme, environmentWeight }, rewards }) => {
      if (rewardScheme === 'weighted' || rewardScheme === 'normalised') return undefined;
      const weight = [environmentWeight, ...rewards.map((reward) => reward.weight)].find(
        (value) => value !== 0 && value !== 1,
      );
      return weight === undefined
        ? undefined
        : `${rewardScheme} computes the weights itself, so weight ${weight} would have no effect. Use 1, or 0 for a reward that is only logged, or scheme weighted or normalised.`;
    },
  },
  {
    path: 'algorithm.environmentWeight',
    problem: ({ algorithm: { environmentWeight }, rewards, train }) =>
      train.mode === 'rl' && environmentWeight === 0 && rewards.every(({ weight }) => weight === 0)
        ? '0 leaves nothing to learn from: no reward has a weight. List one under rewards, or use 1.'
        : undefined,
  },
  {
    path: 'algorithm.microBatchTokens',
    problem: ({ algorithm, rollout }) =>
      algorithm.microBatchTokens < rollout.maxEpisodeTokens
        ? `${algorithm.microBatchTokens} cannot hold one episode of rollout.maxEpisodeTokens = ${rollout.maxEpisodeTokens}.`
        : undefined,
  },
  {
    path: 'rollout.maxEpisodeTokens',
    problem: ({ policy, rollout }) =>
      rollout.maxEpisodeTokens > policy.maxContextTokens
        ? `${rollout.maxEpisodeTokens} is more than policy.maxContextTokens = ${policy.maxContextTokens} can hold.`
        : undefined,
  },
  {
    path: 'policy.maxTurnTokens',
    problem: ({ policy, rollout }) =>
      policy.maxTurnTokens > rollout.maxEpisodeTokens
        ? `${policy.maxTurnTokens} is more than rollout.maxEpisodeTokens = ${rollout.maxEpisodeTokens} allows.`
        : undefined,
  },
  {
    path: 'train.batchSize',
    problem: ({ train }) =>
      train.mode === 'rl' && !isDefault(TrainBlock.properties.batchSize, train.batchSize)
        ? `${train.batchSize} has no effect in reinforcement learning, which trains on rollout.tasksPerStep x rollout.groupSize episodes. Leave it out.`
        : undefined,
  },
  {
    path: 'rollout.resampleZeroVariance.cap',
    problem: ({ rollout: { resampleZeroVariance } }) =>
      !resampleZeroVariance.enabled &&
      !isDefault(
        RolloutBlock.properties.resampleZeroVariance.properties.cap,
        resampleZeroVariance.cap,
      )
        ? `${resampleZeroVariance.cap} has no effect while rollout.resampleZeroVariance.enabled is false. Leave it out, or enable it.`
        : undefined,
  },
  {
    path: 'train.warmupSteps',
    problem: ({ algorithm, train }) => {
      const steps = runLength({ train }).planned * (train.mode === 'rl' ? algorithm.epochs : 1);
      return train.warmupSteps >= steps && train.warmupSteps > 0
        ? `${train.warmupSteps} leaves nothing after the warm-up: the run has ${steps} optimiser steps. Use fewer.`
        : undefined;
    },
  },
  {
    path: 'eval.samples',
    problem: ({ eval: { samples, temperature } }) =>
      samples > 1 && temperature === 0
        ? `${samples} attempts at temperature 0 are all the same. Use 1, or an eval.temperature above 0.`
        : undefined,
  },
  {
    path: 'checkpoint.keepBest',
    problem: ({ checkpoint, eval: { every } }) =>
      checkpoint.keepBest && every === 0
        ? 'true needs evaluations during training to choose by. Set eval.every, or keepBest: false.'
        : undefined,
  },
  {
    path: 'model.hfModelName',
    problem: ({ model, policy }) =>
      model.hfModelName !== undefined && policy.type === 'minimind'
        ? `${JSON.stringify(model.hfModelName)} is not used by policy type minimind. Use policy.type huggingface, or give a folder that is there (model.path).`
        : undefined,
  },
  {
    path: 'datasets',
    problem: ({ datasets, train }) =>
      train.mode === 'sft' && datasets.some(({ weight }) => weight !== 1)
        ? 'has weights, which have no effect in supervised training: it reads every conversation once a pass. Leave them out.'
        : undefined,
  },
  {
    path: 'dataset.evalSplit',
    problem: ({ dataset }) =>
      dataset.evalSplit === dataset.trainSplit
        ? `"${dataset.evalSplit}" is also the split trained on, so its success rate would say nothing. Name another split.`
        : undefined,
  },
];

/** Problems of a config whose blocks are each valid by themselves. */
export function checkCombinations(config: Config, places: Places): readonly Problem[] {
  const found = combinations.flatMap(({ path, problem }) => {
    const text = problem(config);
    return text === undefined ? [] : [{ path, text }];
  });
  const ofSandbox = sandboxProblems(config.sandbox).map(({ setting, text }) => ({
    path: `sandbox.${setting}`,
    text,
  }));
  return [...found, ...ofSandbox].map(({ path, text }) => {
    const pointer = path.split('.').map(pointerStep).join('');
    return { location: placeOf(places, pointer).value, path, text };
  });
}
