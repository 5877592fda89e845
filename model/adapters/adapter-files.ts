/**
 * Adapters as PEFT stores them: `adapter_config.json` and `adapter_model.safetensors` in a folder, tensors named
 * `base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight`.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import {
  linearModules,
  shortName,
  type LinearModule,
} from '../../agent_rl/core/services/linear-module.ts';
import type { Adapter, ModelConfig } from '../config/architecture.ts';
import { adapterSpecs, modulesNamed } from './adapter.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { readJson } from '../config/read-json.ts';
import { SafetensorsFile, writeSafetensors, type TensorToWrite } from '../weights/safetensors.ts';

const configFile = 'adapter_config.json';
const weightsFile = 'adapter_model.safetensors';
const pickledFile = 'adapter_model.bin';
/** PEFT does not support adapters under an adapter and warns about unknown keys, so these are listed in a file of our own. */
const underFile = 'trained-over.json';
const prefix = 'base_model.model.';

/** What an adapter's folder says about it. */
export interface StoredAdapter {
  adapter: Adapter;
  /** Where the model under it is: a folder, or an id on the hub. Absent where the config does not say. */
  baseModel: string | undefined;
  /** Which branch, tag or commit of a model on the hub. */
  baseRevision: string | undefined;
  /** Folders of other adapters it was trained over, in order. */
  under: readonly string[];
}

/** Whether a folder holds an adapter. */
export const holdsAdapter = (folder: string): boolean => existsSync(path.join(folder, configFile));

/**
 * Reads `adapter_config.json`.
 *
 * @throws AgentRlError `MODEL_INVALID`, naming every feature this decoder does not support.
 */
export async function readAdapterConfig(folder: string, name: string): Promise<StoredAdapter> {
  const file = path.join(folder, configFile);
  const json = await readJson(file, 'MODEL_INVALID');
  if (!isRecord(json)) throw invalid(file, ['it is not an object.']);
  const problems = unsupported(json);
  const number = (key: string, allowed: (value: number) => boolean, expected: string): number => {
    const value = json[key];
    if (typeof value === 'number' && allowed(value)) return value;
    problems.push(`${key} must be ${expected}, got ${JSON.stringify(value)}.`);
    return 1;
  };
  const adapter: Adapter = {
    name,
    rank: number('r', (value) => Number.isInteger(value) && value > 0, 'a positive integer'),
    alpha: number('lora_alpha', (value) => value > 0, 'a positive number'),
    dropout:
      json['lora_dropout'] === undefined
        ? 0
        : number('lora_dropout', (value) => value >= 0 && value < 1, 'from 0 to below 1'),
    rankStabilised: json['use_rslora'] === true,
    targets: targetsOf(json['target_modules'], problems),
  };
  if (problems.length > 0) throw invalid(file, problems);
  return {
    adapter,
    baseModel: textOf(json['base_model_name_or_path']),
    baseRevision: textOf(json['revision']),
    under: await readUnder(folder),
  };
}

/**
 * Reads an adapter's tensors, by their names in memory.
 *
 * @throws AgentRlError `MODEL_INVALID` when they belong to another adapter or model.
 */
export async function readAdapterWeights(
  folder: string,
  config: ModelConfig,
  adapter: Adapter,
): Promise<Map<string, Float32Array>> {
  refuseMissing(folder);
  const file = await SafetensorsFile.open(path.join(folder, weightsFile));
  try {
    const stored = new Map(file.entries.map((entry) => [entry.name, entry]));
    const parameters = new Map<string, Float32Array>();
    const problems: string[] = [];
    for (const { name, shape } of adapterSpecs(config, adapter)) {
      const onDisk = storedName(name, adapter);
      const entry =
        stored.get(onDisk) ?? stored.get(onDisk.replace(/\.weight$/, '.default.weight'));
      if (entry === undefined) {
        problems.push(`"${onDisk}" is missing; expected [${shape.join(', ')}].`);
        continue;
      }
      stored.delete(entry.name);
      if (entry.shape.join() !== shape.join()) {
        problems.push(
          `"${entry.name}" is [${entry.shape.join(', ')}]; for this model it must be [${shape.join(', ')}].`,
        );
        continue;
      }
      const values = await file.readFloats(entry);
      if (!values.every(Number.isFinite))
        problems.push(`"${entry.name}" holds values that are not finite numbers.`);
      parameters.set(name, values);
    }
    for (const name of stored.keys()) problems.push(`"${name}" is not part of this adapter.`);
    if (problems.length > 0) throw invalid(file.path, problems);
    return parameters;
  } finally {
    await file.close();
  }
}

function refuseMissing(folder: string): void {
  if (existsSync(path.join(folder, weightsFile))) return;
  const pickled = existsSync(path.join(folder, pickledFile))
    ? ` Its ${pickledFile} is a pickle, which is not supported: save the adapter with safe_serialization=True.`
    : '';
  throw new AgentRlError('MODEL_INVALID', `${folder} holds no ${weightsFile}.${pickled}`);
}

export interface AdapterToWrite {
  adapter: Adapter;
  /** By their names in memory. */
  parameters: ReadonlyMap<string, Float32Array>;
  /** Where the model under it is. */
  baseModel: string;
  /** Folders of adapters between the two. */
  under?: readonly string[];
}

/** Writes a folder that PEFT's `PeftModel.from_pretrained` takes. @throws AgentRlError `OUTPUT_UNWRITABLE` */
export async function writeAdapter(
  folder: string,
  config: ModelConfig,
  { adapter, parameters, baseModel, under = [] }: AdapterToWrite,
): Promise<void> {
  const tensors = new Map<string, TensorToWrite>();
  for (const { name, shape } of adapterSpecs(config, adapter)) {
    const values = parameters.get(name);
    if (values === undefined)
      throw new AgentRlError('MODEL_INVALID', `The adapter has no tensor named "${name}".`);
    tensors.set(storedName(name, adapter), { shape, values });
  }
  await mkdir(folder, { recursive: true });
  await writeSafetensors(path.join(folder, weightsFile), tensors);
  const json = {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: adapter.rank,
    lora_alpha: adapter.alpha,
    lora_dropout: adapter.dropout,
    use_rslora: adapter.rankStabilised,
    target_modules: adapter.targets.map(shortName),
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    modules_to_save: null,
  };
  const write = (name: string, value: object): Promise<void> =>
    writeFile(path.join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  await write(configFile, json);
  if (under.length > 0) await write(underFile, { adapters: under });
}

async function readUnder(folder: string): Promise<readonly string[]> {
  const file = path.join(folder, underFile);
  if (!existsSync(file)) return [];
  const json = await readJson(file, 'MODEL_INVALID');
  const adapters: unknown = isRecord(json) ? json['adapters'] : undefined;
  if (Array.isArray(adapters) && adapters.every((one) => typeof one === 'string')) return adapters;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${file} must list the adapters on which this one was trained as {"adapters": ["folder", ...]}, got ${JSON.stringify(json)}.`,
  );
}

const storedName = (name: string, adapter: Adapter): string =>
  `${prefix}${name.replace(`.${adapter.name}.weight`, '.weight')}`;

const isSet = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length > 0
    : isRecord(value)
      ? Object.keys(value).length > 0
      : value !== undefined && value !== null && value !== false;

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** First values that PEFT names and that leave the model under the adapter as it is. */
const initsOfAdapterAlone: ReadonlySet<string> = new Set(['gaussian', 'eva', 'orthogonal']);

const unsupportedFeatures = [
  'use_dora fan_in_fan_out lora_bias modules_to_save rank_pattern alpha_pattern',
  'layers_to_transform layers_pattern layer_replication exclude_modules target_parameters',
  'trainable_token_indices megatron_config alora_invocation_tokens use_qalora use_bdlora',
  'arrow_config kasa_config monteclora_config loftq_config corda_config lora_ga_config',
].flatMap((names) => names.split(' '));

function unsupported(json: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  if (json['peft_type'] !== 'LORA')
    problems.push(`peft_type is ${JSON.stringify(json['peft_type'])}; only "LORA" is supported.`);
  if ((json['bias'] ?? 'none') !== 'none')
    problems.push(`bias is ${JSON.stringify(json['bias'])}; only "none" is supported.`);
  for (const name of unsupportedFeatures.filter((feature) => isSet(json[feature])))
    problems.push(`${name} is ${JSON.stringify(json[name])}; it is not supported.`);
  const first = json['init_lora_weights'];
  if (typeof first === 'string' && !initsOfAdapterAlone.has(first))
    problems.push(
      `init_lora_weights is "${first}", which changes the weights of the base model; it is not supported.`,
    );
  return problems;
}

function targetsOf(value: unknown, problems: string[]): readonly LinearModule[] {
  if (value === 'all-linear') return linearModules;
  const names: readonly unknown[] = Array.isArray(value) ? value : [];
  const unknown = names.filter((name) => modulesNamed(name).length === 0);
  if (names.length === 0 || unknown.length > 0) {
    const seen = names.length === 0 ? JSON.stringify(value) : unknown.map(String).join(', ');
    problems.push(
      `target_modules has ${seen}; supported are "all-linear" and a list of ${linearModules.map(shortName).join(', ')}.`,
    );
  }
  const targets = new Set(names.flatMap(modulesNamed));
  return linearModules.filter((module) => targets.has(module));
}

const invalid = (file: string, problems: readonly string[]): AgentRlError =>
  new AgentRlError(
    'MODEL_INVALID',
    `${file} is not an adapter for this model:\n- ${problems.slice(0, 40).join('\n- ')}`,
  );
