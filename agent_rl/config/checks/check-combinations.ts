import { messageOf } from '../../core/errors.ts';
import { showValue } from '../../core/show-value.ts';
import { ModelBlock } from '../blocks/model-block.ts';
import { TrainBlock } from '../blocks/train-block.ts';
import { type Config, runLength } from '../config-schema.ts';
import { placeOf, type Places, pointerStep, type Problem } from './problem.ts';
import { sandboxProblems } from './sandbox-problems.ts';

/** The setting whose place is shown, whether something is wrong with it, and what. */
type Check = [path: string, isWrong: boolean, text: string];

/** The config.yaml of a run spells out every default, so only another value counts as set by the user. */
const isDefault = (schema: object, value: unknown): boolean =>
  'default' in schema && value === schema.default;

const pointerTo = (path: string): string => path.split('.').map(pointerStep).join('');

/** Advantages for which an episode alone in its group is worth nothing. */
const comparesWithinGroups: ReadonlySet<string> = new Set(['group-relative', 'rloo']);

/** Below it the most likely token is all but certain. */
const leastTemperature = 0.01;

const ofRollouts = ({ algorithm, policy, rollout, train }: Config, places: Places): Check[] => {
  const isRl = train.mode === 'rl';
  const { groupSize, maxEpisodeTokens } = rollout;
  const { temperature } = policy.sampling;
  const ifDefault = (path: string): string => (places.has(pointerTo(path)) ? '' : ' (the default)');
  return [
    [
      'rollout.groupSize',
      isRl && groupSize < 2 && comparesWithinGroups.has(algorithm.advantage.type),
      `${groupSize} leaves an episode nothing to be compared with, so every advantage is 0. Use at least 2.`,
    ],
    [
      'policy.sampling.temperature',
      isRl && temperature < leastTemperature,
      `${temperature} makes all episodes of a group alike, so every advantage is 0. Use at least ${leastTemperature}.`,
    ],
    [
      'algorithm.updatesPerBatch',
      isRl && algorithm.updatesPerBatch > rollout.tasksPerStep,
      `${algorithm.updatesPerBatch} is more than rollout.tasksPerStep = ${rollout.tasksPerStep}, and a step needs a whole group. Use at most that.`,
    ],
    [
      'algorithm.microBatchTokens',
      isRl && algorithm.microBatchTokens < maxEpisodeTokens,
      `${algorithm.microBatchTokens} cannot hold one episode of rollout.maxEpisodeTokens = ${maxEpisodeTokens}.`,
    ],
    [
      'rollout.maxEpisodeTokens',
      maxEpisodeTokens > policy.maxContextTokens,
      `${maxEpisodeTokens}${ifDefault('rollout.maxEpisodeTokens')} is more than policy.maxContextTokens = ${policy.maxContextTokens}${ifDefault('policy.maxContextTokens')} can hold. Lower the one or raise the other.`,
    ],
    [
      'policy.maxTurnTokens',
      policy.maxTurnTokens > maxEpisodeTokens,
      `${policy.maxTurnTokens} is more than rollout.maxEpisodeTokens = ${maxEpisodeTokens} allows.`,
    ],
  ];
};

const ofRewardsAndLoss = ({ algorithm, rewards, train }: Config): Check[] => {
  const { environmentWeight, kl } = algorithm;
  const weights = rewards.map(({ weight }) => weight);
  return [
    [
      'algorithm.kl.weight',
      kl.kind === 'none' && kl.weight > 0,
      `${kl.weight} has no effect while algorithm.kl.kind is none. Use k1, k2 or k3, or weight 0.`,
    ],
    [
      'algorithm.kl.kind',
      kl.kind !== 'none' && kl.weight === 0,
      `${kl.kind} costs a forward pass and has no effect while algorithm.kl.weight is 0. Use none, or a weight.`,
    ],
    [
      'algorithm.kl.reference',
      kl.reference !== undefined && kl.kind === 'none',
      `${showValue(kl.reference)} has no effect while algorithm.kl.kind is none. Use k1, k2 or k3 and a weight, or leave it out.`,
    ],
    [
      'algorithm.kl.in',
      kl.in === 'reward' && kl.kind !== 'none' && algorithm.advantage.type === 'constant',
      'reward has no effect with algorithm.advantage constant, which does not look at rewards. Use loss.',
    ],
    [
      'algorithm.environmentWeight',
      train.mode === 'rl' && environmentWeight === 0 && weights.every((weight) => weight === 0),
      '0 leaves nothing to learn from: no reward has a weight. List one under rewards, or use 1.',
    ],
  ];
};

const ofTraining = ({
  algorithm,
  checkpoint,
  eval: evaluation,
  learner,
  train,
}: Config): Check[] => {
  const isRl = train.mode === 'rl';
  const steps =
    runLength({ train }).planned * (isRl ? algorithm.epochs * algorithm.updatesPerBatch : 1);
  const { samples, temperature, every, strategy } = evaluation;
  const chooses = strategy === 'best-of-n' || strategy === 'majority';
  return [
    [
      'train.batchSize',
      isRl && !isDefault(TrainBlock.properties.batchSize, train.batchSize),
      `${train.batchSize} has no effect in reinforcement learning, which trains on rollout.tasksPerStep x rollout.groupSize episodes. Leave it out.`,
    ],
    [
      'train.until',
      train.until !== undefined && every === 0,
      'measures success in evaluations, and none is made. Set eval.every, the steps between them.',
    ],
    [
      'learner.type',
      !isRl && every > 0 && learner.type !== 'engine',
      `${learner.type} cannot imitate: supervised training learns with the engine of this process. Leave learner out.`,
    ],
    [
      'train.warmupSteps',
      train.warmupSteps >= steps && train.warmupSteps > 0,
      `${train.warmupSteps} leaves nothing after the warm-up: the run has ${steps} optimiser steps. Use fewer.`,
    ],
    [
      'eval.samples',
      samples > 1 && temperature === 0,
      `${samples} attempts at temperature 0 are all the same. Use 1, or an eval.temperature above 0.`,
    ],
    [
      'eval.strategy',
      chooses && (samples === 1 || temperature === 0),
      `${strategy} chooses among several attempts that differ. Set eval.samples above 1 and eval.temperature above 0.`,
    ],
    [
      'checkpoint.keepBest',
      checkpoint.keepBest && every === 0,
      'true needs evaluations during training to choose by. Set eval.every, or keepBest: false.',
    ],
  ];
};

/** Settings of a folder of tasks: how its rows are read. */
const rowReadings = ['format', 'columns', 'answerPattern'] as const;

function expressionProblem(pattern: string): string | undefined {
  try {
    return void new RegExp(pattern, 'gmu');
  } catch (thrown) {
    return `${messageOf(thrown)}. Give a regular expression of JavaScript; its flags are gmu.`;
  }
}

/** A folder or a generator: what of the other is set beside it could not act. */
function ofSource(
  source: Config['datasets'][number],
  path: string,
  mode: Config['train']['mode'],
): Check[] {
  const { dir, generator } = source;
  const set = rowReadings.filter((key) => key in source);
  return [
    [
      path,
      dir === undefined && generator === undefined,
      'says nowhere where its tasks come from. Give dir, a folder of them, or generator: {type: NAME}, which makes them.',
    ],
    [
      path,
      dir !== undefined && generator !== undefined,
      'has a folder (dir) and a generator, and its tasks come from one. Keep one.',
    ],
    [
      `${path}.generator`,
      generator !== undefined && mode === 'sft',
      'makes tasks, and supervised training reads conversations from files. Give dir, a folder of them.',
    ],
    [
      path,
      generator !== undefined && dir === undefined && set.length > 0,
      `has ${set.join(', ')}, which have no effect on a generator: it says itself how its rows are read. Leave them out.`,
    ],
  ];
}

const ofModelAndData = ({ dataset, datasets, model, train }: Config): Check[] => [
  [
    'model.quantizeBlockSize',
    model.quantize === 'none' &&
      !isDefault(ModelBlock.properties.quantizeBlockSize, model.quantizeBlockSize),
    `${model.quantizeBlockSize} has no effect while model.quantize is none. Set that to 4bit, or leave this out.`,
  ],
  [
    'datasets',
    train.mode === 'sft' && datasets.some(({ weight }) => weight !== 1),
    'has weights, which have no effect in supervised training: it reads every conversation once a pass. Leave them out.',
  ],
  ...datasets.flatMap((source, index) => ofSource(source, `datasets.${index}`, train.mode)),
  ...datasets.map(({ answerPattern }, index): Check => {
    const problem = answerPattern === undefined ? undefined : expressionProblem(answerPattern);
    return [`datasets.${index}.answerPattern`, problem !== undefined, problem ?? ''];
  }),
  [
    'dataset.evalSplit',
    dataset.evalSplit === dataset.trainSplit,
    `"${dataset.evalSplit}" is also the split trained on, so its success rate would say nothing. Name another split.`,
  ],
];

/**
 * What one block's schema cannot see: settings that contradict others, and settings that would do nothing. Each block is
 * valid by itself.
 */
export function checkCombinations(config: Config, places: Places): Problem[] {
  const checks = [ofRollouts, ofRewardsAndLoss, ofTraining, ofModelAndData];
  const found = [
    ...checks.flatMap((check) => check(config, places)).filter(([, isWrong]) => isWrong),
    ...sandboxProblems(config.sandbox).map(({ setting, text }): Check => [
      `sandbox.${setting}`,
      true,
      text,
    ]),
  ];
  return found.map(([path, , text]) => {
    return { location: placeOf(places, pointerTo(path)).value, path, text };
  });
}
