import { messageOf } from '../../core/errors.ts';
import { onlyAgent } from '../../core/rollout.ts';
import { showValue } from '../../core/show-value.ts';
import { ModelBlock } from '../blocks/model-block.ts';
import { TrainBlock } from '../blocks/train-block.ts';
import { type Config, runLength } from '../config-schema.ts';
import { isTrained } from '../policies.ts';
import { placeOf, type Places, pointerStep, type Problem } from './problem.ts';
import { sandboxProblems } from './sandbox-problems.ts';

/** The setting whose place is shown, whether something is wrong with it, and what. */
type Check = [path: string, isWrong: boolean, text: string];

/** The config.yaml of a run spells out every default, so only another value counts as set by the user. */
const isDefault = (schema: object, value: unknown): boolean =>
  'default' in schema && value === schema.default;

const pointerTo = (path: string): string => path.split('.').map(pointerStep).join('');

/** Advantages that are 0 for the only episode of a group. */
const comparesWithinGroups: ReadonlySet<string> = new Set(['group-relative', 'rloo', 'gigpo']);

/** At lower temperatures the most likely token is almost certain. */
const leastTemperature = 0.01;

const teaches = ({ teacher, hint }: Config['algorithm']['distill']): boolean =>
  teacher !== undefined || hint !== undefined;

const ofRollouts = ({ algorithm, policy, rollout, train }: Config, places: Places): Check[] => {
  const isRl = train.mode === 'rl';
  const { groupSize, maxEpisodeTokens } = rollout;
  const { temperature } = policy.sampling;
  const ifDefault = (path: string): string => (places.has(pointerTo(path)) ? '' : ' (the default)');
  return [
    [
      'rollout.groupSize',
      isRl &&
        groupSize < 2 &&
        comparesWithinGroups.has(algorithm.advantage.type) &&
        (!teaches(algorithm.distill) ||
          algorithm.distill.advantageWeight > 0 ||
          algorithm.selection.type === 'dynamic'),
      `in a group of ${groupSize}, an episode is compared with no other, so every advantage is 0. Use at least 2.`,
    ],
    [
      'policy.sampling.temperature',
      isRl && temperature < leastTemperature,
      `${temperature} makes all episodes of a group nearly equal, so every advantage is 0. Use at least ${leastTemperature}.`,
    ],
    [
      'algorithm.updatesPerBatch',
      isRl && algorithm.updatesPerBatch > rollout.tasksPerStep,
      `${algorithm.updatesPerBatch} optimiser steps need at least one group each, but an iteration has ${rollout.tasksPerStep} (rollout.tasksPerStep). Use at most ${rollout.tasksPerStep}.`,
    ],
    [
      'algorithm.microBatchTokens',
      isRl && algorithm.microBatchTokens < maxEpisodeTokens,
      `${algorithm.microBatchTokens} cannot hold one episode of rollout.maxEpisodeTokens = ${maxEpisodeTokens}. Raise algorithm.microBatchTokens or lower rollout.maxEpisodeTokens.`,
    ],
    [
      'rollout.maxEpisodeTokens',
      maxEpisodeTokens > policy.maxContextTokens,
      `${maxEpisodeTokens}${ifDefault('rollout.maxEpisodeTokens')} is more than policy.maxContextTokens = ${policy.maxContextTokens}${ifDefault('policy.maxContextTokens')} can hold. Lower rollout.maxEpisodeTokens or raise policy.maxContextTokens.`,
    ],
    [
      'policy.maxTurnTokens',
      policy.maxTurnTokens > maxEpisodeTokens,
      `${policy.maxTurnTokens} is more than rollout.maxEpisodeTokens = ${maxEpisodeTokens} allows. Lower policy.maxTurnTokens or raise rollout.maxEpisodeTokens.`,
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
      `${kl.weight} has no effect while algorithm.kl.kind is "none". Set algorithm.kl.kind to k1, k2 or k3, or algorithm.kl.weight to 0.`,
    ],
    [
      'algorithm.kl.kind',
      kl.kind !== 'none' && kl.weight === 0,
      `${kl.kind} costs a forward pass and has no effect while algorithm.kl.weight is 0. Set algorithm.kl.kind to none, or algorithm.kl.weight above 0.`,
    ],
    [
      'algorithm.kl.reference',
      kl.reference !== undefined && kl.kind === 'none',
      `${showValue(kl.reference)} has no effect while algorithm.kl.kind is "none". Set algorithm.kl.kind to k1, k2 or k3 and algorithm.kl.weight above 0, or remove the reference.`,
    ],
    [
      'algorithm.kl.in',
      kl.in === 'reward' && kl.kind !== 'none' && algorithm.advantage.type === 'constant',
      '"reward" has no effect, because algorithm.advantage is constant, which ignores rewards. Use "loss".',
    ],
    [
      'algorithm.environmentWeight',
      train.mode === 'rl' &&
        environmentWeight === 0 &&
        weights.every((weight) => weight === 0) &&
        !teaches(algorithm.distill),
      'with a weight of 0 and no other reward that counts, there is nothing to learn from. List a reward with a weight under rewards, or set algorithm.environmentWeight to 1.',
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
      `${train.batchSize} has no effect in reinforcement learning, which trains on rollout.tasksPerStep x rollout.groupSize episodes. Remove it.`,
    ],
    [
      'train.until',
      train.until !== undefined && every === 0,
      'needs evaluations during training. Set eval.every, the number of steps between them.',
    ],
    [
      'learner.type',
      !isRl && every > 0 && learner.type !== 'engine',
      `${learner.type} cannot do supervised training, which uses the engine of this process. Remove the setting learner.`,
    ],
    [
      'train.warmupSteps',
      train.warmupSteps >= steps && train.warmupSteps > 0,
      `${train.warmupSteps} leaves no steps after the warm-up: the run has ${steps} optimiser steps. Use fewer warm-up steps.`,
    ],
    [
      'eval.samples',
      samples > 1 && temperature === 0,
      `${samples} attempts at temperature 0 are identical. Set eval.samples to 1, or eval.temperature above 0.`,
    ],
    [
      'eval.strategy',
      chooses && (samples === 1 || temperature === 0),
      `${strategy} needs several attempts that can differ. Set eval.samples above 1 and eval.temperature above 0.`,
    ],
    [
      'checkpoint.keepBest',
      checkpoint.keepBest && every === 0,
      'needs evaluations during training. Set eval.every, or set checkpoint.keepBest to false.',
    ],
  ];
};

/** Settings that say how the rows of a folder of tasks are read. */
const rowReadings = ['format', 'columns', 'answerPattern'] as const;

function expressionProblem(pattern: string): string | undefined {
  try {
    return void new RegExp(pattern, 'gmu');
  } catch (thrown) {
    return `${messageOf(thrown)}. Use a JavaScript regular expression; its flags are gmu.`;
  }
}

/** A dataset is a folder or a generator: settings of the other kind have no effect. */
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
      'has no source of tasks. Set dir, a folder of tasks, or generator: {type: NAME}.',
    ],
    [
      path,
      dir !== undefined && generator !== undefined,
      'has both a folder (dir) and a generator. Keep one.',
    ],
    [
      `${path}.generator`,
      generator !== undefined && mode === 'sft',
      'generates tasks, but supervised training reads conversations from files. Set dir instead.',
    ],
    [
      path,
      generator !== undefined && dir === undefined && set.length > 0,
      `has ${set.join(', ')}, which have no effect on a generator. Remove them.`,
    ],
  ];
}

const ofPolicies = ({
  agents,
  algorithm,
  eval: evaluation,
  policies,
  rollout,
  train,
}: Config): Check[] => {
  const names = [onlyAgent, ...Object.keys(policies)];
  const { kl, distill, name: preset } = algorithm;
  const used = new Set([...agents.map(({ policy }) => policy), kl.reference, distill.teacher]);
  const unknown = (name: string | undefined) => name !== undefined && !names.includes(name);
  const frozen = names.filter((name) => !isTrained({ policies }, name)).join(', ') || 'none';
  return [
    ...agents.map(({ policy }, index): Check => [
      `agents.${index}.policy`,
      unknown(policy),
      `no policy is named ${showValue(policy)}. Policies: ${names.join(', ')}. Name one of them, or add it under policies.`,
    ]),
    ...[
      { path: 'algorithm.kl.reference', named: kl.reference, what: 'a reference' },
      { path: 'algorithm.distill.teacher', named: distill.teacher, what: 'a teacher' },
    ].flatMap(({ path, named, what }): Check[] => [
      [
        path,
        unknown(named),
        `no policy is named ${showValue(named)}. Policies without a learner: ${frozen}. Add it: policies: {NAME: {model: {path: FOLDER}}}.`,
      ],
      [
        path,
        named !== undefined && !unknown(named) && isTrained({ policies }, named),
        `${showValue(named)} is trained, but ${what} must not change. Name a policy without a learner.`,
      ],
    ]),
    [
      'algorithm.distill.teacher',
      preset === 'distill' && !teaches(distill),
      'is missing: the algorithm distill needs a teacher. Add it under policies, and name it here; or let the policy teach itself with algorithm.distill.hint.',
    ],
    [
      'algorithm.distill.hint',
      distill.hint !== undefined && distill.leastHintGain > 0 && !evaluation.before,
      'is measured before training, but eval.before is false. Set eval.before: true, or algorithm.distill.leastHintGain: 0.',
    ],
    [
      'algorithm.distill.hint',
      distill.hint?.includes('{solution}') === true && rollout.groupSize === 1,
      'asks for the solution of another attempt, but rollout.groupSize is 1. Use at least 2.',
    ],
    [
      'algorithm.distill.weight',
      teaches(distill) && distill.weight === 0,
      'is 0, so the teacher has no effect. Use a weight above 0, or remove the teacher and the hint.',
    ],
    [
      'train.control',
      teaches(distill) && train.control !== 'none',
      `${train.control} shuffles rewards, but a teacher would still teach. Remove algorithm.distill from the control.`,
    ],
    ...Object.entries(policies).flatMap(([name, { model, policy, learner }]): Check[] => [
      [
        `policies.${name}`,
        names.some((other) => other !== name && other.toLowerCase() === name.toLowerCase()),
        'differs from another policy in case only, and a checkpoint has a folder for each. Rename one of them.',
      ],
      [
        `policies.${name}.policy.maxContextTokens`,
        (policy?.maxContextTokens ?? Infinity) < rollout.maxEpisodeTokens,
        `${policy?.maxContextTokens} cannot hold an episode of rollout.maxEpisodeTokens = ${rollout.maxEpisodeTokens}. Raise it.`,
      ],
      [
        `policies.${name}.model.quantizeBlockSize`,
        model?.quantize === 'none' &&
          !isDefault(ModelBlock.properties.quantizeBlockSize, model.quantizeBlockSize),
        `${model?.quantizeBlockSize} has no effect while policies.${name}.model.quantize is "none". Set that to 4bit, or remove this.`,
      ],
      [
        `policies.${name}`,
        !used.has(name),
        `nothing uses this policy. Name it in agents[].policy, algorithm.kl.reference or algorithm.distill.teacher, or remove it.`,
      ],
      [
        `policies.${name}.model.lora`,
        learner === undefined && model?.lora !== undefined,
        `has no effect: policy ${name} has no learner, so its weights never change. Add policies.${name}.learner: {type: engine}, or remove lora.`,
      ],
    ]),
  ];
};

const ofModelAndData = ({ dataset, datasets, model, train }: Config): Check[] => [
  [
    'model.quantizeBlockSize',
    model.quantize === 'none' &&
      !isDefault(ModelBlock.properties.quantizeBlockSize, model.quantizeBlockSize),
    `${model.quantizeBlockSize} has no effect while model.quantize is "none". Set model.quantize to 4bit, or remove model.quantizeBlockSize.`,
  ],
  [
    'datasets',
    train.mode === 'sft' && datasets.some(({ weight }) => weight !== 1),
    'has weights, which have no effect in supervised training: each pass reads every conversation once. Remove them.',
  ],
  ...datasets.flatMap((source, index) => ofSource(source, `datasets.${index}`, train.mode)),
  ...datasets.map(({ answerPattern }, index): Check => {
    const problem = answerPattern === undefined ? undefined : expressionProblem(answerPattern);
    return [`datasets.${index}.answerPattern`, problem !== undefined, problem ?? ''];
  }),
  [
    'dataset.evalSplit',
    dataset.evalSplit === dataset.trainSplit,
    `"${dataset.evalSplit}" is also the training split, so its success rate would be meaningless. Name another split.`,
  ],
];

/**
 * Checks across blocks, each of which is valid by itself: settings that contradict others, and settings without effect.
 */
export function checkCombinations(config: Config, places: Places): Problem[] {
  const checks = [ofRollouts, ofRewardsAndLoss, ofTraining, ofPolicies, ofModelAndData];
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
