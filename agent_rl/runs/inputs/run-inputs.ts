import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { writeFileAtomic } from '../../telemetry/index.ts';
import type { ModelStack } from '../../../model/weights/open-model.ts';
import { checkGenerators, type GeneratorIdentity } from './generators.ts';
import { checkMachine, type Machine } from './machine.ts';
import { checkFoundTools, type FoundTools } from './tool-sets.ts';
import { checkReadings, type TaskReading } from './readings.ts';
import type { RunFolder } from '../run-folder.ts';
import { sha256Of } from '../../core/services/sha256-of.ts';

/** Where the things are that a run starts from. */
export interface RunSources {
  seed: number;
  /** Files of the tasks that are trained on, one for each folder of tasks. */
  trainFiles: readonly string[];
  /** Files of the held-out tasks. */
  evalFiles: readonly string[];
  /** How the rows of each source of tasks are read; none where they hold no tasks. */
  readings: readonly TaskReading[];
  /** What makes the tasks of sources that are no folders; none by default. */
  generators?: readonly GeneratorIdentity[];
  /** Of tool sets; none by default. */
  foundTools?: FoundTools;
  model: ModelStack;
  /** The models of the named policies; none by default. */
  policies?: ReadonlyMap<string, ModelStack>;
  /** What this session computes on. */
  machine: Machine;
}

const inputsSchema = 2;

/** What a run began with, in its `inputs.json`: it is only resumed with the same. */
export interface RunInputs {
  schema: typeof inputsSchema;
  seed: number;
  sha256: {
    /** Of each file. */
    trainTasks: readonly string[];
    evalTasks: readonly string[];
    /** Of weights, config and tokenizer of the model the run starts from, and of its adapters, all together. */
    startModel: string;
    /** The same of each named policy; absent without any. */
    policies?: Readonly<Record<string, string>>;
  };
  /** How the rows of each source of tasks are read. */
  readings: readonly TaskReading[];
  /** What makes the tasks of sources that are no folders. Absent without any. */
  generators?: readonly GeneratorIdentity[];
  /** The tools of tool sets. Absent without any. */
  foundTools?: FoundTools;
  /** What it was computed on: each that a session changed to, in order. */
  machines: readonly Machine[];
}

type Kind = keyof RunInputs['sha256'];

const taskKinds = ['trainTasks', 'evalTasks'] as const;

const inputsFile = (folder: RunFolder): string => join(folder.path, 'inputs.json');

const sha256OfModel = ({ base, adapters }: ModelStack): Promise<string> =>
  sha256Of([base, ...adapters].flatMap(modelFiles));

const sha256OfEach = (files: readonly string[]): Promise<string[]> =>
  Promise.all(files.map((file) => sha256Of([file])));

const none: ReadonlyMap<string, ModelStack> = new Map();

async function sha256OfPolicies(
  policies: ReadonlyMap<string, ModelStack>,
): Promise<Readonly<Record<string, string>>> {
  const hashes: [string, string][] = [];
  for (const [name, model] of policies) hashes.push([name, await sha256OfModel(model)]);
  return Object.fromEntries(hashes);
}

/** What is read of a model folder: notes beside it may change. */
function modelFiles(folder: string): readonly string[] {
  const names = readdirSync(folder);
  // Weights as .bin are not read beside others.
  const others = names.some((name) => name.endsWith('.safetensors'));
  const read = others ? /\.(safetensors|pth|json|jinja)$/ : /\.(bin|pth|json|jinja)$/;
  return names
    .filter((name) => read.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

/** Reads everything a run starts from. */
export async function readInputs(sources: RunSources): Promise<RunInputs> {
  const { seed, trainFiles, evalFiles, readings, generators = [], model } = sources;
  const { foundTools = {}, policies = none } = sources;
  return {
    schema: inputsSchema,
    seed,
    sha256: {
      trainTasks: await sha256OfEach(trainFiles),
      evalTasks: await sha256OfEach(evalFiles),
      startModel: await sha256OfModel(model),
      ...(policies.size > 0 && { policies: await sha256OfPolicies(policies) }),
    },
    readings,
    ...(generators.length > 0 && { generators }),
    ...(Object.keys(foundTools).length > 0 && { foundTools }),
    machines: [sources.machine],
  };
}

/** Writes the `inputs.json` of a new run. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export const writeInputs = (folder: RunFolder, inputs: RunInputs): void =>
  writeFileAtomic(inputsFile(folder), `${JSON.stringify(inputs, null, 1)}\n`);

/** Whether a run's `inputs.json` says what it began with. */
export const hasInputs = (folder: RunFolder): boolean => existsSync(inputsFile(folder));

/**
 * Writes down what a session computes on, where it is not what the one before did.
 *
 * @returns what the run was computed on so far.
 * @throws AgentRlError `CHECKPOINT_INVALID`, `OUTPUT_UNWRITABLE`
 */
export function recordMachine(folder: RunFolder, machine: Machine): readonly Machine[] {
  if (!hasInputs(folder)) return [machine];
  const inputs = storedInputs(inputsFile(folder));
  const { machines: before } = inputs;
  if (isDeepStrictEqual(before.at(-1), machine)) return before;
  const machines = [...before, machine];
  writeInputs(folder, { ...inputs, machines });
  return machines;
}

/**
 * Refuses to resume a run on other tasks, another start model, another seed, or, unless that is allowed, with other
 * engine threads or another device than it began with.
 *
 * @returns what the log must show besides, a sentence each.
 * @throws AgentRlError `CHECKPOINT_INVALID`
 */
export async function checkInputs(
  folder: RunFolder,
  sources: RunSources,
  allowOtherMachine = false,
): Promise<readonly string[]> {
  const file = inputsFile(folder);
  if (!existsSync(file)) {
    return [
      `${folder.path} has no inputs.json, so the tasks, start model and engine threads cannot be compared with those that the run began with.`,
    ];
  }
  const before = storedInputs(file);
  if (before.seed !== sources.seed) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `The run ${folder.path} cannot be resumed with run.seed ${sources.seed}: it was started with seed ${before.seed}. Restore the seed, or start a new run.`,
    );
  }
  checkGenerators(folder.path, before.generators, sources.generators);
  checkFoundTools(folder.path, before.foundTools, sources.foundTools);
  const began = before.machines.at(-1)!;
  const onMachine = checkMachine(folder.path, { began, now: sources.machine, allowOtherMachine });
  const now = await readInputs(sources);
  const changed = changedKinds(before, now);
  if (changed.length > 0) {
    const what = changed.map((kind) => describe(kind, sources)).join('; ');
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `The run ${folder.path} cannot be resumed: its inputs have changed (by SHA-256): ${what}. Restore them, or start a new run from its checkpoint with --model.`,
    );
  }
  checkReadings(folder.path, before.readings, sources.readings);
  return onMachine;
}

function changedKinds(before: RunInputs, now: RunInputs): Kind[] {
  const changed = taskKinds.filter(
    (kind) => !isDeepStrictEqual(before.sha256[kind], now.sha256[kind]),
  );
  const sameModel = before.sha256.startModel === now.sha256.startModel;
  const named = [before, now].map(({ sha256: { policies = {} } }) => policies);
  return [
    ...changed,
    ...(sameModel ? [] : (['startModel'] as const)),
    ...(isDeepStrictEqual(named[0], named[1]) ? [] : (['policies'] as const)),
  ];
}

const describe = (
  kind: Kind,
  { trainFiles, evalFiles, model, policies = none }: RunSources,
): string =>
  ({
    trainTasks: `the tasks to train on, now ${trainFiles.join(' and ')} (datasets, dataset.trainSplit)`,
    evalTasks: `the held-out tasks, now ${evalFiles.join(' and ')} (datasets, dataset.evalSplit)`,
    startModel: `the model it starts from, now ${[model.base, ...model.adapters].join(' with ')} (model.path, model.adapters)`,
    policies: `the models of named policies, now ${[...policies].map(([name, { base, adapters }]) => `policies.${name} ${[base, ...adapters].join(' with ')}`).join(', ') || 'none'}`,
  })[kind];

function storedInputs(file: string): RunInputs {
  try {
    const inputs = JSON.parse(readFileSync(file, 'utf8')) as RunInputs;
    const { schema, sha256, readings, machines } = inputs;
    const isWhole =
      typeof sha256 === 'object' && Array.isArray(readings) && Array.isArray(machines);
    if (schema !== inputsSchema || !isWhole || machines.length === 0)
      throw new Error('its format is unknown');
    return inputs;
  } catch (cause) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${file} cannot be read: ${messageOf(cause)}. Restore the file, or delete it to resume without this check.`,
      { cause },
    );
  }
}
