import type { Options } from 'yargs';

import type { Override } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { jsonFlag, listFlag, numberFlag, type Parsed, textFlag, textsOf } from './flag.ts';
import { modelOverrides } from './model-name.ts';

interface ConfigFlag {
  /** Without the dashes. */
  flag: string;
  /** The setting it stands for. */
  path: string;
  type: 'string' | 'number' | 'boolean';
  describe: string;
}

/** Flags that stand for one setting each. They go over the file and over `--set`. */
const configFlags: ConfigFlag[] = [
  {
    flag: 'model',
    path: 'model.path',
    type: 'string',
    describe: 'Model folder, or a model on the Hugging Face hub as org/name',
  },
  {
    flag: 'output',
    path: 'run.outputDir',
    type: 'string',
    describe: 'Folder that holds the folders of all runs',
  },
  { flag: 'seed', path: 'run.seed', type: 'number', describe: 'Seed of everything random' },
  {
    flag: 'max-iterations',
    path: 'train.maxIterations',
    type: 'number',
    describe: 'End the run after this many iterations',
  },
  {
    flag: 'device',
    path: 'run.device',
    type: 'string',
    describe: 'cpu, cuda, cuda:N, webgpu or tensorflow',
  },
  {
    flag: 'engine-threads',
    path: 'run.engineThreads',
    type: 'number',
    describe: 'Threads for matrix products',
  },
  {
    flag: 'dataset-dir',
    path: 'dataset.dir',
    type: 'string',
    describe: 'Folder that holds the splits of the dataset',
  },
  {
    flag: 'train-split',
    path: 'dataset.trainSplit',
    type: 'string',
    describe: 'Split to train on',
  },
  {
    flag: 'eval-split',
    path: 'dataset.evalSplit',
    type: 'string',
    describe: 'Held-out split to evaluate on',
  },
  {
    flag: 'policy-type',
    path: 'policy.type',
    type: 'string',
    describe: 'Name of a policy: minimind, huggingface, transformers-js or your own',
  },
  {
    flag: 'async-rollout-workers',
    path: 'rollout.workers',
    type: 'number',
    describe: 'Episodes in flight; 1 collects them one after another',
  },
  {
    flag: 'sandbox-workers',
    path: 'sandbox.workers',
    type: 'number',
    describe: 'Programs the sandbox runs at once',
  },
  {
    flag: 'preview-tasks',
    path: 'run.previewTasks',
    type: 'number',
    describe: 'Tasks to print before the run starts',
  },
  {
    flag: 'log-rollouts',
    path: 'run.logRollouts',
    type: 'boolean',
    describe: 'Log one line for each episode',
  },
];

const optionOf = ({ type, describe }: ConfigFlag): Options => {
  if (type === 'boolean') return { type, describe };
  return type === 'number' ? numberFlag(describe) : textFlag(describe);
};

/** The options of every command that reads a run file. */
export const configOptions: Readonly<Record<string, Options>> = {
  config: textFlag('Run file (YAML)'),
  set: listFlag('Any setting, as path=value: --set train.learningRate=1e-4'),
  plugin: listFlag('Package or file that provides plugins'),
  ...Object.fromEntries(configFlags.map((flag) => [flag.flag, optionOf(flag)])),
  json: jsonFlag,
};

/** Earlier names of `--model`. */
export const renamedModelFlags = { 'model-path': 'model', 'hf-model-name': 'model' } as const;

/** Earlier names of those options. */
export const renamedConfigFlags = { ...renamedModelFlags, 'output-dir': 'output' } as const;

/** `configOptions` without those that have no effect on a command: there they are unknown. */
export const optionsWithout = (names: string[]): Record<string, Options> =>
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

/** The values of `--set`. */
export const setsOf = (parsed: Parsed): string[] => textsOf(parsed['set']);

/** What is not a number stays as it was written: the config's own message then says what is allowed. */
function settingOf(value: unknown, type: ConfigFlag['type']): unknown {
  const number = Number(value);
  return type === 'number' && value !== '' && !Number.isNaN(number) ? number : value;
}

/** The flags that were given, as settings. */
export function overridesOf(parsed: Parsed): Override[] {
  const settings = configFlags
    .filter(({ flag }) => parsed[flag] !== undefined)
    .flatMap(({ flag, path, type }) => {
      const value = parsed[flag];
      const source = `--${flag} ${String(value)}`;
      if (flag === 'model') return modelOverrides(source, String(value));
      return [{ source, path, value: settingOf(value, type) }];
    });
  const plugins = textsOf(parsed['plugin']).map((value) => ({
    source: `--plugin ${value}`,
    path: 'plugins',
    value,
    append: true,
  }));
  return [...settings, ...plugins];
}
