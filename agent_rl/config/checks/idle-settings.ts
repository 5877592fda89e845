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

/** A run in which settings are looked at, and what of it does not stand in the config. */
export interface Circumstances {
  config: Config;
  /** Whether a plugin of the run asks for a sandbox. */
  runsPrograms: boolean;
  /** Whether agents with a loop of their own play: in some environments, or in all. */
  playsOutside: { some: boolean; all: boolean };
  /** Whether the engine of this process draws the tokens. */
  drawsTokens: boolean;
  /** Whether an engine of this process learns. */
  learnsHere: boolean;
}

/** Settings or whole blocks, when they cannot act, and why. */
type IdleRule = readonly [
  settings: readonly string[] | ((config: Config) => readonly string[]),
  applies: (run: Circumstances) => boolean,
  why: string,
];

const isSft = ({ config: { train } }: Circumstances): boolean => train.mode === 'sft';
const isRl = (run: Circumstances): boolean => !isSft(run);
/** Supervised training does where it evaluates. */
const playsEpisodes = (run: Circumstances): boolean => isRl(run) || run.config.eval.every > 0;

/** Of the algorithm, all but what the memory of a pass is set by. */
const ofRewards = Object.keys(AlgorithmBlock.properties)
  .filter((key) => key !== 'microBatchTokens')
  .map((key) => `algorithm.${key}`);

/** Blocks that hold nothing but a plugin, besides what samples and learns, which has rules of its own. */
const judging = Object.keys(ConfigSchema.properties).filter(
  (key) => isPluginBlock([key]) && key !== 'generator' && key !== 'learner',
);

/** Of a folder of tasks: how its rows are read, and what for. */
const folderReadings = ['environment', 'format', 'columns', 'answerPattern'];

const neverEvaluates = ({ before, after, every }: Config['eval']): boolean =>
  !before && !after && every === 0;

const writesSeveral = (config: Config): boolean =>
  config.checkpoint.every > 0 && config.checkpoint.every < runLength(config).last;

/**
 * Settings that would do nothing, in runs that train: said in the terminal, the log and `summary.json` of the run. One
 * that the plain default would serve as well is never among them.
 */
const idle: readonly IdleRule[] = [
  [
    ['run.decoders'],
    (run) => playsEpisodes(run) && run.config.run.device !== 'cpu',
    'run.device is not cpu, and one thread draws for another device',
  ],
  [
    ['run.decoders'],
    (run) => playsEpisodes(run) && !run.drawsTokens,
    'the generator of this run is not the engine, whose threads they are',
  ],
  [
    ['train.finalRatio'],
    ({ config }) => config.train.schedule === 'constant',
    'train.schedule is constant, so that the learning rate stays at its peak',
  ],
  [
    ['train.prefixTrees'],
    ({ config }) => (config.model.lora?.dropout ?? 0) > 0,
    'model.lora.dropout is above 0, and what it drops is keyed by whole sequences',
  ],
  [
    ['train.prefixTrees', 'train.recompute'],
    (run) => isRl(run) && !run.learnsHere,
    'the learner of this run computes elsewhere, as it chooses',
  ],
  [
    ['algorithm.kl.in'],
    (run) => isRl(run) && run.config.algorithm.kl.kind === 'none',
    'algorithm.kl.kind is none',
  ],
  [
    ['algorithm.overlong.penalty'],
    (run) => isRl(run) && run.config.algorithm.overlong.share === 0,
    'algorithm.overlong.share is 0, so that no episode is too long',
  ],
  [
    ['gateway'],
    (run) => playsEpisodes(run) && !run.playsOutside.some,
    'no environment of this run is external, and others make no requests',
  ],
  [
    ['tools', 'rollout.invalidCallLimit'],
    (run) => playsEpisodes(run) && run.playsOutside.all,
    'the agent has tools and a loop of its own',
  ],
  [
    ['rollout.failures.penalty'],
    (run) => isRl(run) && !Object.values(run.config.rollout.outcomes).includes('penalise'),
    'no rollout.outcomes is penalise',
  ],
  [
    ['datasets.0.weight'],
    (run) => isRl(run) && run.config.datasets.length === 1,
    'there is no second source of tasks to weigh it against',
  ],
  [
    ({ datasets }) => datasets.map((_, folder) => `datasets.${folder}.environment`),
    (run) => playsEpisodes(run) && [run.config.environment].flat().length === 1,
    'the run has one environment, which all tasks are for',
  ],
  [
    ['trainSplit', 'evalSplit', 'maxSamples', 'shuffle'].map((key) => `dataset.${key}`),
    (run) => isRl(run) && run.config.datasets.every(({ generator }) => generator !== undefined),
    'the tasks come from generators, and from no files',
  ],
  [
    ['eval.samples', 'eval.temperature', 'eval.maxTasks', 'eval.strategy', 'eval.selector'],
    (run) => isRl(run) && neverEvaluates(run.config.eval),
    'eval.before and eval.after are false and eval.every is 0, so that nothing is evaluated',
  ],
  [
    ['eval.samples', 'eval.temperature'],
    (run) => playsEpisodes(run) && run.config.eval.strategy === 'greedy',
    'eval.strategy greedy makes one attempt at temperature 0',
  ],
  [
    ['eval.selector'],
    (run) => playsEpisodes(run) && run.config.eval.strategy !== 'best-of-n',
    'only eval.strategy best-of-n rates attempts',
  ],
  [
    ['eval.every'],
    (run) => playsEpisodes(run) && run.config.eval.every >= runLength(run.config).planned,
    'the run ends before so many iterations are done',
  ],
  [
    ['eval.selectionTasks'],
    (run) => isRl(run) && !run.config.checkpoint.keepBest,
    'checkpoint.keepBest is false, so that no checkpoint is chosen',
  ],
  [
    ['checkpoint.keepLast'],
    (run) => !writesSeveral(run.config),
    'checkpoint.every is 0 or as many iterations as the run has, so that only its last checkpoint is written',
  ],
  [
    ['train.parityBound'],
    (run) => isRl(run) && truncates(run.config.policy.sampling),
    'policy.sampling cuts tokens off, so that the probabilities of generator and learner differ and are not compared',
  ],
  [
    ['policy.sampling.allowBiasedGradient'],
    (run) => isRl(run) && !truncates(run.config.policy.sampling),
    'no token is cut off, and the gradient is unbiased',
  ],
  [
    ['sandbox'],
    (run) => playsEpisodes(run) && !run.runsPrograms,
    'nothing in this run executes programs',
  ],
  [
    [
      'policy.sampling',
      ...ofRewards,
      ...judging,
      'train.parityBound',
      'run.previewTasks',
      'run.logRollouts',
      'run.prices',
    ],
    isSft,
    'supervised training does not learn from episodes',
  ],
  [
    [
      'rollout',
      'gateway',
      'agents',
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
    'supervised training evaluates every eval.every steps and after the last one',
  ],
  [
    ({ datasets }) =>
      datasets.flatMap((_, folder) => folderReadings.map((key) => `datasets.${folder}.${key}`)),
    (run) => !playsEpisodes(run),
    'supervised training reads conversations, which have one format',
  ],
  [['learner'], isSft, 'supervised training learns with the engine of this process'],
  [['checkpoint.keepBest'], isSft, 'supervised training keeps the newest checkpoints'],
  [
    ['maxSamples', 'shuffle'].map((key) => `dataset.${key}`),
    isSft,
    'supervised training reads all conversations of its split, in a new order each pass',
  ],
];

/** What is surely a mistake, and refused. */
const mistaken: readonly IdleRule[] = [
  [
    ['train.contextWeight'],
    isRl,
    'reinforcement learning trains on sampled tokens alone. Leave it out, or set train.mode to sft',
  ],
  [
    ['train.until'],
    isRl,
    'reinforcement learning makes all of train.iterations. Leave it out, or set train.mode to sft',
  ],
  [
    ['train.control'],
    isSft,
    'supervised training has no rewards to shuffle, and would not be the control it is named as. Leave it out',
  ],
];

/** A setting that cannot act in a run. */
export interface IdleSetting {
  /** Dotted. */
  path: string;
  value: unknown;
  why: string;
}

/** Settings that cannot act in a run that trains. */
export const idleSettings = (run: Circumstances): IdleSetting[] => named(idle, run);

/** Those of them that are surely a mistake. */
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
 * A value, or the parts of a block, that differ from the defaults and cannot act: the config.yaml of a run spells out every default, so
 * only another value counts as set by the user.
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

/** Refusals of settings that cannot act. */
export const idleProblems = (settings: readonly IdleSetting[], places: Places): Problem[] =>
  settings.map((setting) => ({
    location: placed(setting, places),
    path: setting.path,
    text: `${shown(setting)}has no effect: ${setting.why}.`,
  }));

/** Warnings of settings that cannot act, a sentence for each reason. */
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

/** Numbers and switches; a text may be long, or hold a password. */
const shown = ({ value }: IdleSetting): string =>
  typeof value === 'number' || typeof value === 'boolean' ? `${value} ` : '';
