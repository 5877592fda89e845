import type { Options } from 'yargs';

import type { Override } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { listFlag, numberOption, type Parsed, textFlag, textsOf } from './flag.ts';

const text = (describe: string): Options => textFlag(describe).option;

/** The setting that a flag stands for, and the flag. They override the file and `--set`. */
const settingFlags: Readonly<Record<string, [path: string, option: Options]>> = {
  model: [
    'model.path',
    {
      ...text('Model folder, or a model on the Hugging Face hub as org/name'),
      alias: ['model-path', 'hf-model-name'],
    },
  ],
  output: [
    'run.outputDir',
    { ...text('Folder that contains the run folders'), alias: ['output-dir'] },
  ],
  seed: ['run.seed', numberOption('Random seed')],
  'max-iterations': ['train.maxIterations', numberOption('End the run after this many iterations')],
  device: ['run.device', text('cpu, cuda, cuda:N, webgpu or tensorflow')],
  'engine-threads': ['run.engineThreads', numberOption('Engine threads')],
  'dataset-dir': ['datasets', text('Folder with the splits of the dataset')],
  'train-split': ['dataset.trainSplit', text('Split to train on')],
  'eval-split': ['dataset.evalSplit', text('Held-out split to evaluate on')],
  'policy-type': [
    'policy.type',
    text('Policy: minimind, huggingface, transformers-js or your own plugin'),
  ],
  'async-rollout-workers': [
    'rollout.workers',
    numberOption('Episodes to run in parallel; 1 runs them one after another'),
  ],
  'sandbox-workers': ['sandbox.workers', numberOption('Programs the sandbox runs in parallel')],
  'preview-tasks': [
    'run.previewTasks',
    numberOption('Number of tasks to print before the run starts'),
  ],
  'log-rollouts': ['run.logRollouts', { type: 'boolean', describe: 'Log one line per episode' }],
};

/** Flags for settings of evaluations, which only their command has. */
const evaluationFlags: typeof settingFlags = {
  strategy: ['eval.strategy', text('How attempts are counted: all, greedy, best-of-n or majority')],
  selector: [
    'eval.selector',
    text('How best-of-n ranks attempts: log-probability or the name of a reward'),
  ],
  samples: ['eval.samples', numberOption('Attempts per task')],
  temperature: [
    'eval.temperature',
    numberOption('Sampling temperature; 0 takes the most likely token'),
  ],
};

const optionsOf = (flags: typeof settingFlags): Record<string, Options> =>
  Object.fromEntries(Object.entries(flags).map(([flag, [, option]]) => [flag, option]));

/** The options of the command that evaluates, besides `configOptions`. */
export const evaluationOptions: Readonly<Record<string, Options>> = optionsOf(evaluationFlags);

/** The options of every command that reads a run file. */
export const configOptions: Readonly<Record<string, Options>> = {
  config: text('Run file (YAML)'),
  set: listFlag('Any setting, as path=value: --set train.learningRate=1e-4').option,
  plugin: listFlag('Package or file that provides plugins').option,
  ...optionsOf(settingFlags),
};

const trainingOnly = 'train-split eval-split preview-tasks output max-iterations log-rollouts';

/** `configOptions` of a command that does not train. @param others have no effect on it either; all these are unknown there */
export function optionsOfUse(...others: string[]): Record<string, Options> {
  const unknown = new Set(trainingOnly.split(' ').concat(others));
  return Object.fromEntries(Object.entries(configOptions).filter(([name]) => !unknown.has(name)));
}

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
    `${given} were both given, but only one of them can have an effect. Give one.`,
  );
}

/** The values of `--set`. */
export const setsOf = (parsed: Parsed): string[] => textsOf(parsed['set']);

/** What is not a number stays as it was written: the config's own message then says what is allowed. */
function settingOf(value: unknown, { type }: Options): unknown {
  const number = Number(value);
  return type === 'number' && value !== '' && !Number.isNaN(number) ? number : value;
}

/** The flags that were given, as settings. */
export function overridesOf(parsed: Parsed): Override[] {
  const settings = Object.entries({ ...settingFlags, ...evaluationFlags }).flatMap(
    ([flag, [path, option]]) => {
      const value = parsed[flag] as string | boolean | undefined;
      if (value === undefined) return [];
      const source = `--${flag} ${String(value)}`;
      const setting = settingOf(value, option);
      return [{ source, path, value: flag === 'dataset-dir' ? [{ dir: setting }] : setting }];
    },
  );
  const plugins = textsOf(parsed['plugin']).map((value) => ({
    source: `--plugin ${value}`,
    path: 'plugins',
    value,
    append: true,
  }));
  return [...settings, ...plugins];
}
