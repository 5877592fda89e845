import type { Options } from 'yargs';

import type { Override } from '../config/index.ts';
import { AgentRlError } from '../core/errors.ts';

interface ConfigFlag {
  /** Without the dashes. */
  flag: string;
  /** Setting it stands for. */
  path: string;
  type: 'string' | 'number' | 'boolean';
  describe: string;
}

/** Flags that stand for one setting each. They go over the file and over `--set`. */
const configFlags: readonly ConfigFlag[] = [
  { flag: 'dataset-dir', path: 'dataset.dir', type: 'string', describe: 'Folder of the splits' },
  { flag: 'train-split', path: 'dataset.trainSplit', type: 'string', describe: 'Split trained on' },
  { flag: 'eval-split', path: 'dataset.evalSplit', type: 'string', describe: 'Split evaluated on' },
  { flag: 'seed', path: 'run.seed', type: 'number', describe: 'Seed of all randomness' },
  { flag: 'model-path', path: 'model.path', type: 'string', describe: 'Model folder' },
  {
    flag: 'device',
    path: 'run.device',
    type: 'string',
    describe: 'cpu, cuda, cuda:N, webgpu or tensorflow',
  },
  { flag: 'policy-type', path: 'policy.type', type: 'string', describe: 'Name of a policy' },
  {
    flag: 'hf-model-name',
    path: 'model.hfModelName',
    type: 'string',
    describe: 'Model on the hub',
  },
  {
    flag: 'preview-tasks',
    path: 'run.previewTasks',
    type: 'number',
    describe: 'Tasks shown before the start',
  },
  {
    flag: 'async-rollout-workers',
    path: 'rollout.workers',
    type: 'number',
    describe: 'Episodes in flight; 1 is one at a time',
  },
  { flag: 'output-dir', path: 'run.outputDir', type: 'string', describe: 'Folder of all runs' },
  {
    flag: 'max-iterations',
    path: 'train.maxIterations',
    type: 'number',
    describe: 'Iterations after which the run ends',
  },
  { flag: 'engine-threads', path: 'run.engineThreads', type: 'number', describe: 'Engine threads' },
  {
    flag: 'sandbox-workers',
    path: 'sandbox.workers',
    type: 'number',
    describe: 'Programs run at once',
  },
  {
    flag: 'log-rollouts',
    path: 'run.logRollouts',
    type: 'boolean',
    describe: 'One log line per rollout',
  },
];

/** The options of every command that reads a run file. */
export const configOptions: Readonly<Record<string, Options>> = {
  config: { type: 'string', requiresArg: true, describe: 'Run file (YAML)' },
  set: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Any setting, as path=value: --set train.learningRate=1e-4',
  },
  plugin: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Package or file that brings plugins',
  },
  json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  ...Object.fromEntries(
    configFlags.map(({ flag, type, describe }) => [
      flag,
      type === 'boolean' ? { type, describe } : { type: 'string', describe, requiresArg: true },
    ]),
  ),
};

/** `configOptions` of a command in which some would do nothing: there they are unknown. */
export const optionsWithout = (names: readonly string[]): Readonly<Record<string, Options>> =>
  Object.fromEntries(Object.entries(configOptions).filter(([name]) => !names.includes(name)));

/**
 * At most one of two options that say the same thing.
 *
 * @throws AgentRlError `CONFIG_INVALID` when both were given.
 */
export function refuseBoth(parsed: Parsed, one: string, other: string): void {
  if (parsed[one] === undefined || parsed[other] === undefined) return;
  const given = [one, other].map((name) => `${name} ${String(parsed[name])}`).join(' and ');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${given} were both given, and only one of them could have an effect. Give one.`,
  );
}

/** What yargs parsed. */
export type Parsed = Readonly<Record<string, unknown>>;

/** The values of an option that may be given again and again. */
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** The values of `--set`. */
export const setsOf = (parsed: Parsed): readonly string[] => textsOf(parsed['set']);

/** What is no number stays as it was written: the config's own message then says what is allowed. */
function settingOf(value: unknown, type: ConfigFlag['type']): unknown {
  const number = Number(value);
  return type === 'number' && value !== '' && !Number.isNaN(number) ? number : value;
}

/** The flags that were given, as settings. */
export function overridesOf(parsed: Parsed): readonly Override[] {
  const settings = configFlags
    .filter(({ flag }) => parsed[flag] !== undefined)
    .map(({ flag, path, type }) => {
      const value = parsed[flag];
      return { source: `--${flag} ${String(value)}`, path, value: settingOf(value, type) };
    });
  const plugins = textsOf(parsed['plugin']).map((value) => ({
    source: `--plugin ${value}`,
    path: 'plugins',
    value,
    append: true,
  }));
  return [...settings, ...plugins];
}
