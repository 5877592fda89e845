import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { parse } from 'yaml';

import { type Config, resolvedYaml } from '../config/index.ts';
import { AgentRlError, messageOf } from '../core/errors.ts';
import { writeFileAtomic } from '../telemetry/index.ts';
import type { RunFolder } from './run-folder.ts';
import { changedSettings } from './changed-settings.ts';
import { modelFolder } from '../../model/find/model-folder.ts';
import type { ModelLayers } from '../../model/weights/open-model.ts';
import { sameTasks } from '../../dataset/tasks/same-tasks.ts';
import { splitFile, splitFiles } from '../../dataset/tasks/task-files.ts';

/** What a run was begun with, in its `inputs.json`: it is only gone on with on the same. */
export interface RunInputs {
  schema: 1;
  seed: number;
  /** SHA-256 of files, by what they are to the run. */
  sha256: {
    trainTasks: string;
    evalTasks: string;
    /** Weights, config and tokenizer of the model the run starts from, and its adapters. */
    startModel: string;
  };
}

const inputsFile = (folder: RunFolder): string => join(folder.path, 'inputs.json');

async function sha256Of(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files)
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** What is read of a model folder: notes beside it may change. */
const modelFiles = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => /\.(safetensors|pth|json|jinja)$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));

const taskFiles = ({ dataset, datasets }: Config) => ({
  train: splitFiles(datasets, dataset.trainSplit)[0]!,
  evaluation: splitFiles(datasets, dataset.evalSplit)[0]!,
});

/** Reads everything a config's run starts from. */
export async function runInputs(config: Config, layers: ModelLayers): Promise<RunInputs> {
  const { train, evaluation } = taskFiles(config);
  return {
    schema: 1,
    seed: config.run.seed,
    sha256: {
      trainTasks: await sha256Of([train]),
      evalTasks: await sha256Of([evaluation]),
      startModel: await sha256Of([layers.base, ...layers.adapters].flatMap(modelFiles)),
    },
  };
}

/** Where the training split was found. */
function datasetFolder(dir: string, trainSplit: string): string {
  return resolve(splitFile(dir, trainSplit).slice(0, -`${trainSplit}.jsonl`.length));
}

/** The config with paths that mean the same from any working directory. */
function withAbsolutePaths(config: Config): Config {
  const model = modelFolder(config);
  const adapters = config.model.adapters.map((folder) => resolve(folder));
  return {
    ...config,
    run: { ...config.run, outputDir: resolve(config.run.outputDir) },
    model:
      config.model.hfModelName === undefined
        ? { ...config.model, adapters, path: model }
        : { ...config.model, adapters, hfModelName: model },
    datasets: config.datasets.map(({ dir, weight }) => ({
      dir: datasetFolder(dir, config.dataset.trainSplit),
      weight,
    })),
  };
}

/** Writes `config.yaml` and, for a run that begins, `inputs.json`. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export function writeRunConfig(folder: RunFolder, config: Config, inputs?: RunInputs): void {
  writeFileAtomic(folder.config, resolvedYaml(withAbsolutePaths(config)));
  if (inputs !== undefined)
    writeFileAtomic(inputsFile(folder), `${JSON.stringify(inputs, null, 1)}\n`);
}

/**
 * Writes the config that a run goes on with over the one it had, so that the next resume goes on with it too.
 *
 * @returns what differs, each as `path: before -> after`.
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export function rewriteRunConfig(folder: RunFolder, config: Config): readonly string[] {
  const before: unknown = existsSync(folder.config)
    ? parse(readFileSync(folder.config, 'utf8'))
    : undefined;
  const after = withAbsolutePaths(config);
  writeFileAtomic(folder.config, resolvedYaml(after));
  return before === undefined ? [] : changedSettings(before, after);
}

const inWords: Readonly<Record<keyof RunInputs['sha256'], (config: Config) => string>> = {
  trainTasks: (config) =>
    `the tasks to train on, now ${taskFiles(config).train} (datasets, dataset.trainSplit)`,
  evalTasks: (config) =>
    `the held-out tasks, now ${taskFiles(config).evaluation} (datasets, dataset.evalSplit)`,
  startModel: (config) =>
    `the model it starts from, now ${[modelFolder(config), ...config.model.adapters].join(' with ')} (model.path, model.adapters)`,
};

/**
 * Refuses to go on with a run on other tasks, another start model or another seed than it began with.
 *
 * @returns what is to be told besides, a sentence each.
 * @throws AgentRlError `CHECKPOINT_INVALID`
 */
export async function checkRunInputs(
  folder: RunFolder,
  config: Config,
  layers: ModelLayers,
): Promise<readonly string[]> {
  const file = inputsFile(folder);
  if (!existsSync(file)) {
    return [
      `${folder.path} holds no inputs.json, so whether tasks and start model are those it began with cannot be checked.`,
    ];
  }
  const then = readInputs(file);
  if (then.seed !== config.run.seed) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `The run ${folder.path} cannot be continued with run.seed ${config.run.seed}: it began with ${then.seed}, and all its randomness is keyed by that. Leave the seed as it is, or start a new run.`,
    );
  }
  const now = await runInputs(config, layers);
  const kinds = Object.keys(inWords) as readonly (keyof RunInputs['sha256'])[];
  const differing = kinds.filter((kind) => then.sha256[kind] !== now.sha256[kind]);
  const changed = differing.filter((kind) => !sameTasks(then.sha256[kind], now.sha256[kind]));
  if (changed.length === 0) {
    return differing.map(
      (kind) =>
        `${inWords[kind](config)}: fields of the file were renamed since the run began; the tasks are the same.`,
    );
  }
  const what = changed.map((kind) => inWords[kind](config)).join('; ');
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run ${folder.path} cannot be continued: not what it began with, by SHA-256, is ${what}. Name what it began with, or start a new run from its checkpoint with --model.`,
  );
}

function readInputs(file: string): RunInputs {
  try {
    const { schema, seed, sha256 } = JSON.parse(readFileSync(file, 'utf8')) as RunInputs;
    if (schema === 1 && typeof sha256 === 'object') return { schema, seed, sha256 };
    throw new Error('it is of another form');
  } catch (cause) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${file} cannot be read: ${messageOf(cause)}. Put it back as it was, or delete it to continue unchecked.`,
      { cause },
    );
  }
}
