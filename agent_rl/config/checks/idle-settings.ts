import { isRecord } from '../../core/is-record.ts';
import { truncates } from '../../core/services/generator.ts';
import { AlgorithmBlock } from '../blocks/algorithm-block.ts';
import {
  type Config,
  ConfigSchema,
  isPluginBlock,
  runLength,
  schemaAt,
  type SettingSchema,
} from '../config-schema.ts';
import { placeOf, type Places, pointerStep, type Problem } from './problem.ts';

/** A run whose settings are checked, with facts that its config does not contain. */
export interface Circumstances {
  config: Config;
  /** Whether a plugin of the run needs a sandbox. */
  runsPrograms: boolean;
  /** Whether external agents play: in some environments, or in all. */
  playsOutside: { some: boolean; all: boolean };
  /** Whether the engine of this process samples the tokens. */
  drawsTokens: boolean;
  /** Whether an engine of this process learns. */
  learnsHere: boolean;
}

/** Settings or whole blocks, when they have no effect, and why. */
type IdleRule = readonly [
  settings: readonly string[] | ((config: Config) => readonly string[]),
  applies: (run: Circumstances) => boolean,
  why: string,
];

const isSft = ({ config: { train } }: Circumstances): boolean => train.mode === 'sft';
const isRl = (run: Circumstances): boolean => !isSft(run);
/** Supervised training uses them if it evaluates. */
const playsEpisodes = (run: Circumstances): boolean => isRl(run) || run.config.eval.every > 0;

/** The algorithm's settings, except the memory limit of a pass. */
const ofRewards = Object.keys(AlgorithmBlock.properties)
  .filter((key) => key !== 'microBatchTokens')
  .map((key) => `algorithm.${key}`);

/** Blocks that only hold a plugin, except generator and learner, which have their own rules. */
const judging = Object.keys(ConfigSchema.properties).filter(
  (key) => isPluginBlock([key]) && key !== 'generator' && key !== 'learner',
);

/** A folder of tasks: how its rows are read, and for which environment. */
const folderReadings = ['environment', 'format', 'columns', 'answerPattern'];

const neverEvaluates = ({ before, after, every }: Config['eval']): boolean =>
  !before && !after && every === 0;

const writesSeveral = (config: Config): boolean =>
  config.checkpoint.every > 0 && config.checkpoint.every < runLength(config).last;

/**
 * Settings without effect in a training run: reported in the terminal, the log and `summary.json`. A setting at its
 * default is never reported.
 */
const idle: readonly IdleRule[] = [
  [
    ['run.decoders'],
    (run) => playsEpisodes(run) && run.config.run.device !== 'cpu',
    'run.device is not cpu, and other devices sample in one thread',
  ],
  [
    ['run.decoders'],
    (run) => playsEpisodes(run) && !run.drawsTokens,
    "the run's generator does not use the engine's threads",
  ],
  [
    ['train.finalRatio'],
    ({ config }) => config.train.schedule === 'constant',
    'train.schedule is constant',
  ],
  [
    ['train.prefixTrees'],
    ({ config }) => (config.model.lora?.dropout ?? 0) > 0,
    'model.lora.dropout is above 0, and dropout needs whole sequences',
  ],
  [
    ['train.prefixTrees', 'train.recompute'],
    (run) => isRl(run) && !run.learnsHere,
    "the run's learner is a separate service with its own settings",
  ],
  [
    ['algorithm.kl.in'],
    (run) => isRl(run) && run.config.algorithm.kl.kind === 'none',
    'algorithm.kl.kind is "none"',
  ],
  [
    ['weight', 'advantageWeight', 'topK'].map((key) => `algorithm.distill.${key}`),
    (run) =>
      isRl(run) &&
      run.config.algorithm.distill.teacher === undefined &&
      run.config.algorithm.distill.hint === undefined,
    'the run has no teacher (algorithm.distill.teacher or hint)',
  ],
  [
    ['algorithm.distill.leastHintGain'],
    (run) => isRl(run) && run.config.algorithm.distill.hint === undefined,
    'the run has no hint (algorithm.distill.hint)',
  ],
  [
    ({ policies }) => Object.keys(policies).map((name) => `policies.${name}.learner`),
    isSft,
    'supervised training trains the policy at the top level only',
  ],
  [
    ['algorithm.overlong.penalty'],
    (run) => isRl(run) && run.config.algorithm.overlong.share === 0,
    'algorithm.overlong.share is 0',
  ],
  [
    ['gateway'],
    (run) => playsEpisodes(run) && !run.playsOutside.some,
    'the run has no external agent, and only external agents send requests',
  ],
  [
    ['tools', 'rollout.invalidCallLimit'],
    (run) => playsEpisodes(run) && run.playsOutside.all,
    'an external agent brings its own tools and loop',
  ],
  [
    ['rollout.failures.penalty'],
    (run) => isRl(run) && !Object.values(run.config.rollout.outcomes).includes('penalise'),
    'no setting under rollout.outcomes has the value penalise',
  ],
  [
    ['datasets.0.weight'],
    (run) => isRl(run) && run.config.datasets.length === 1,
    'the run has only one source of tasks',
  ],
  [
    ({ datasets }) => datasets.map((_, folder) => `datasets.${folder}.environment`),
    (run) => playsEpisodes(run) && [run.config.environment].flat().length === 1,
    'the run has only one environment',
  ],
  [
    ['trainSplit', 'evalSplit', 'maxSamples', 'shuffle'].map((key) => `dataset.${key}`),
    (run) => isRl(run) && run.config.datasets.every(({ generator }) => generator !== undefined),
    'all tasks come from generators',
  ],
  [
    ['eval.samples', 'eval.temperature', 'eval.maxTasks', 'eval.strategy', 'eval.selector'],
    (run) => isRl(run) && neverEvaluates(run.config.eval),
    'eval.before and eval.after are false and eval.every is 0, so the run makes no evaluations',
  ],
  [
    ['eval.samples', 'eval.temperature'],
    (run) => playsEpisodes(run) && run.config.eval.strategy === 'greedy',
    'eval.strategy is greedy, which makes one attempt at temperature 0',
  ],
  [
    ['eval.selector'],
    (run) => playsEpisodes(run) && run.config.eval.strategy !== 'best-of-n',
    'eval.strategy is not best-of-n',
  ],
  [
    ['eval.every'],
    (run) => playsEpisodes(run) && run.config.eval.every >= runLength(run.config).planned,
    'the run has at most this many iterations',
  ],
  [
    ['eval.selectionTasks'],
    (run) => isRl(run) && !run.config.checkpoint.keepBest,
    'checkpoint.keepBest is false',
  ],
  [
    ['checkpoint.keepLast'],
    (run) => !writesSeveral(run.config),
    'checkpoint.every is 0, or at least the number of iterations, so the run writes only its last checkpoint',
  ],
  [
    ['train.parityBound'],
    (run) => isRl(run) && truncates(run.config.policy.sampling),
    'policy.sampling leaves out unlikely tokens, so the probabilities of generator and learner differ by design and are not compared',
  ],
  [
    ['policy.sampling.allowBiasedGradient'],
    (run) => isRl(run) && !truncates(run.config.policy.sampling),
    'sampling is not truncated, so the gradient is unbiased',
  ],
  [['sandbox'], (run) => playsEpisodes(run) && !run.runsPrograms, 'the run executes no programs'],
  [
    [
      'policy.sampling',
      ...ofRewards,
      ...judging,
      'train.parityBound',
      'async',
      'run.previewTasks',
      'run.logRollouts',
      'run.prices',
    ],
    isSft,
    'supervised training does not train on episodes',
  ],
  [
    [
      'rollout',
      'journal',
      'gateway',
      'agents',
      'policies',
      'policy.maxTurnTokens',
      'policy.maxContextTokens',
      'generator',
      'run.decoders',
      'rewards',
      'sandbox',
      'eval',
      'dataset.evalSplit',
    ],
    (run) => !playsEpisodes(run),
    'supervised training plays no episodes while eval.every is 0',
  ],
  [
    ['rollout.tasksPerStep', 'rollout.groupSize', 'rollout.outcomes', 'rollout.failures.penalty'],
    (run) => isSft(run) && playsEpisodes(run),
    'supervised training plays episodes only to evaluate',
  ],
  [
    ['eval.before', 'eval.after', 'eval.selectionTasks'],
    isSft,
    'supervised training always evaluates after the last step',
  ],
  [
    ({ datasets }) =>
      datasets.flatMap((_, folder) => folderReadings.map((key) => `datasets.${folder}.${key}`)),
    (run) => !playsEpisodes(run),
    'supervised training reads conversations, which have only one format',
  ],
  [['learner'], isSft, 'supervised training uses the engine of this process'],
  [
    ['checkpoint.keepBest'],
    isSft,
    'supervised training keeps the newest checkpoints, never the best one',
  ],
  [
    ['maxSamples', 'shuffle'].map((key) => `dataset.${key}`),
    isSft,
    'supervised training reads all conversations of its split, shuffled in each pass',
  ],
];

/** Settings that are certainly a mistake, and refused. */
const mistaken: readonly IdleRule[] = [
  [
    ['train.contextWeight'],
    isRl,
    'reinforcement learning only trains on sampled tokens. Remove this setting, or set train.mode to sft',
  ],
  [
    ['train.until'],
    isRl,
    'reinforcement learning always runs for train.iterations. Remove this setting, or set train.mode to sft',
  ],
  [['train.control'], isSft, 'supervised training has no rewards to shuffle. Remove this setting'],
];

/** A setting without effect in a run. */
export interface IdleSetting {
  /** Dotted. */
  path: string;
  value: unknown;
  why: string;
}

/** Settings without effect in a training run. */
export const idleSettings = (run: Circumstances): IdleSetting[] => named(idle, run);

/** The settings among them that are certainly a mistake. */
export const mistakenSettings = (config: Config): IdleSetting[] =>
  named(mistaken, {
    config,
    runsPrograms: true,
    playsOutside: { some: true, all: false },
    drawsTokens: true,
    learnsHere: true,
  });

const named = (rules: readonly IdleRule[], run: Circumstances): IdleSetting[] =>
  rules
    .filter(([, applies]) => applies(run))
    .flatMap(([settings, , why]) =>
      (typeof settings === 'function' ? settings(run.config) : settings).flatMap((path) =>
        setBelow(path, run.config, why),
      ),
    );

/** The settings at a path and below it whose value is not the default. */
function setBelow(path: string, config: Config, why: string): IdleSetting[] {
  const keys = path.split('.');
  return changed({ path, schema: schemaAt(keys), value: keys.reduce(childOf, config) }, why);
}

const childOf = (value: unknown, key: string): unknown =>
  (value as Readonly<Record<string, unknown>> | undefined)?.[key];

interface Part {
  path: string;
  schema: SettingSchema | undefined;
  value: unknown;
}

/**
 * A value, or the parts of a block, that differ from the defaults and have no effect: the config.yaml of a run spells
 * out every default, so only another value counts as set by the user.
 */
export function changed({ path, schema, value }: Part, why: string): IdleSetting[] {
  const { properties } = schema ?? {};
  if (properties !== undefined && isRecord(value)) {
    return Object.entries(properties).flatMap(([key, part]) =>
      changed({ path: `${path}.${key}`, schema: part, value: value[key] }, why),
    );
  }
  // Values of a run file are plain JSON.
  const isUsual = value === undefined || JSON.stringify(value) === JSON.stringify(schema?.default);
  return isUsual ? [] : [{ path, value, why }];
}

const placed = ({ path }: IdleSetting, places: Places) =>
  placeOf(places, path.split('.').map(pointerStep).join('')).value;

/** Problems of settings without effect. */
export const idleProblems = (settings: readonly IdleSetting[], places: Places): Problem[] =>
  settings.map((setting) => ({
    location: placed(setting, places),
    path: setting.path,
    text: `${shown(setting)}has no effect: ${setting.why}.`,
  }));

/** Warnings about settings without effect, one sentence per reason. */
export function idleWarnings(settings: readonly IdleSetting[], places: Places): string[] {
  const reasons = [...new Set(settings.map(({ why }) => why))];
  return reasons.map((reason) => {
    const found = settings.filter(({ why }) => why === reason);
    const list = found.map((setting) => {
      const { source, line } = placed(setting, places);
      const at = line === undefined ? source : `${source}:${line}`;
      return `${setting.path} ${shown(setting)}(${at})`;
    });
    return `${list.join(', ')} ${found.length === 1 ? 'has' : 'have'} no effect: ${reason}.`;
  });
}

/** Only numbers and flags; a text may be long or contain a password. */
const shown = ({ value }: IdleSetting): string =>
  typeof value === 'number' || typeof value === 'boolean' ? `${value} ` : '';
