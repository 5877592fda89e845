import { mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { AgentRlError } from '../agent_rl/core/errors.ts';
import { isRecord } from './is-record.ts';
import { readModelConfig, writeModelConfig, type ModelConfig } from './model-config.ts';
import {
  embeddingName,
  headName,
  parameterSpecs,
  scaleName,
  type ParameterSpec,
  type Weights,
} from './parameters.ts';
import type { Quantization } from './quantization.ts';
import { quantizeWeights } from './quantize-weights.ts';
import { readJson } from './read-json.ts';
import {
  SafetensorsFile,
  writeAside,
  writeSafetensors,
  type TensorToWrite,
} from './safetensors.ts';
import type { StoredDtype, TensorEntry } from './safetensors-header.ts';

export interface LoadedModel {
  readonly config: ModelConfig;
  /** By Hugging Face name, in the order of `parameterSpecs`. */
  readonly parameters: Map<string, Float32Array | Uint8Array>;
  /** How the embedding is stored; other tensors may be stored otherwise. In memory all are float32, or packed bytes. */
  readonly storedDtype: StoredDtype;
}

interface StoredTensor {
  readonly file: SafetensorsFile;
  readonly entry: TensorEntry;
}

const torchNames: Readonly<Record<StoredDtype, string>> = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
};

export interface LoadOptions {
  /** Quantise a float model while it is read, so that no more than one of its matrices is ever held in float32. */
  readonly quantize?: Quantization | undefined;
}

/**
 * Loads a Hugging Face model folder: config.json with model.safetensors, or with shards and their index.
 *
 * @throws AgentRlError `MODEL_INVALID`, naming every missing, extra and misshapen tensor at once, or the first weight
 *   that is no number.
 */
export async function loadModel(
  folder: string,
  { quantize }: LoadOptions = {},
): Promise<LoadedModel> {
  const configFile = path.join(folder, 'config.json');
  const json = await readJson(configFile, 'MODEL_INVALID');
  const files = await openWeights(folder);
  try {
    const stored = tensorsOf(files);
    const config = readModelConfig(json, configFile, stored.keys());
    checkTensors(folder, config, stored);
    const finite = async ({ name }: ParameterSpec): Promise<Float32Array> => {
      const values = await read(stored, name);
      requireFinite(folder, name, values);
      return values;
    };
    const parameters =
      quantize === undefined
        ? await readAll(parameterSpecs(config), stored, finite)
        : await quantizeWeights(config, quantize, finite);
    await checkTiedHead(folder, config, stored, parameters);
    return {
      config: quantize === undefined ? config : { ...config, quantization: quantize },
      parameters,
      storedDtype: storedDtypeOf(stored.get(embeddingName)!),
    };
  } finally {
    await Promise.all(files.map((file) => file.close()));
  }
}

/** Writes config.json and model.safetensors, each whole or not at all. The tokenizer's files are copied apart. */
export async function saveModel(
  folder: string,
  { config, parameters, storedDtype }: LoadedModel,
  metadata: Readonly<Record<string, string>> = { format: 'pt' },
): Promise<void> {
  const tensors = new Map<string, TensorToWrite>();
  for (const { name, shape } of parameterSpecs(config)) {
    const values = parameters.get(name);
    if (values === undefined)
      throw new AgentRlError('MODEL_INVALID', `Cannot save ${folder}: no tensor "${name}".`);
    // A scale rounded as the other floats are would change every weight of its block.
    const isScale = config.quantization !== undefined && name.endsWith(scaleName(''));
    tensors.set(name, { shape, values, ...(isScale && { dtype: 'F32' }) });
  }
  await mkdir(folder, { recursive: true });
  const json = JSON.stringify(writeModelConfig(config, torchNames[storedDtype]), null, 2);
  await writeAside(path.join(folder, 'config.json'), [Buffer.from(`${json}\n`)]);
  await writeSafetensors(path.join(folder, 'model.safetensors'), tensors, {
    dtype: storedDtype,
    metadata,
  });
}

async function readAll(
  specs: readonly ParameterSpec[],
  stored: ReadonlyMap<string, StoredTensor>,
  finite: (spec: ParameterSpec) => Promise<Float32Array>,
): Promise<Map<string, Float32Array | Uint8Array>> {
  const parameters = new Map<string, Float32Array | Uint8Array>();
  for (const spec of specs) {
    const { file, entry } = stored.get(spec.name)!;
    parameters.set(spec.name, spec.dtype === 'uint8' ? await file.read(entry) : await finite(spec));
  }
  return parameters;
}

async function openWeights(folder: string): Promise<SafetensorsFile[]> {
  const single = path.join(folder, 'model.safetensors');
  const index = path.join(folder, 'model.safetensors.index.json');
  if (existsSync(single)) return [await SafetensorsFile.open(single)];
  if (!existsSync(index)) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${folder} holds no weights: expected model.safetensors, or model.safetensors.index.json with its shards.`,
    );
  }
  const shards = await shardNames(index);
  const opened: SafetensorsFile[] = [];
  try {
    for (const shard of shards) opened.push(await SafetensorsFile.open(path.join(folder, shard)));
  } catch (error) {
    await Promise.all(opened.map((file) => file.close()));
    throw error;
  }
  return opened;
}

async function shardNames(index: string): Promise<readonly string[]> {
  const json = await readJson(index, 'MODEL_INVALID');
  const map = isRecord(json) ? json['weight_map'] : undefined;
  const names = isRecord(map) ? [...new Set(Object.values(map))] : [];
  const plain = names.filter(
    (name): name is string => typeof name === 'string' && path.basename(name) === name,
  );
  if (plain.length === 0 || plain.length !== names.length) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${index}: weight_map must give each tensor the name of a file beside it.`,
    );
  }
  return plain.toSorted();
}

function tensorsOf(files: readonly SafetensorsFile[]): Map<string, StoredTensor> {
  const stored = new Map<string, StoredTensor>();
  for (const file of files) {
    for (const entry of file.entries) {
      const before = stored.get(entry.name);
      if (before !== undefined) {
        throw new AgentRlError(
          'MODEL_INVALID',
          `Tensor "${entry.name}" is in ${before.file.path} and in ${file.path}.`,
        );
      }
      stored.set(entry.name, { file, entry });
    }
  }
  return stored;
}

function checkTensors(
  folder: string,
  config: ModelConfig,
  stored: ReadonlyMap<string, StoredTensor>,
): void {
  const specs = parameterSpecs(config);
  const problems = specs.flatMap((spec) => shapeProblem(spec, stored.get(spec.name)?.entry));
  const known = new Set(specs.map(({ name }) => name));
  for (const [name, { entry }] of stored) {
    if (!known.has(name) && !isDerived(name, config)) {
      problems.push(`"${name}" [${entry.shape.join(', ')}] is not part of this model.`);
    }
  }
  if (problems.length === 0) return;
  const shown = problems.slice(0, 40);
  const more =
    problems.length > shown.length ? `\n- … and ${problems.length - shown.length} more.` : '';
  throw new AgentRlError(
    'MODEL_INVALID',
    `The weights in ${folder} do not fit its config.json:\n- ${shown.join('\n- ')}${more}`,
  );
}

/** One weight that is no number makes every logit none. */
function requireFinite(folder: string, name: string, values: Float32Array): void {
  let place = 0;
  // Not `findIndex`, which takes a minute for a billion values.
  while (place < values.length && Number.isFinite(values[place])) place += 1;
  if (place === values.length) return;
  throw new AgentRlError(
    'MODEL_INVALID',
    `"${name}" in ${folder} holds ${values[place]} at place ${place}; weights must be finite. The file is corrupt or its training diverged: take another checkpoint.`,
  );
}

function shapeProblem(spec: ParameterSpec, entry: TensorEntry | undefined): string[] {
  const { name, shape, dtype } = spec;
  const expected = `expected ${dtype === 'uint8' ? 'U8 ' : ''}[${shape.join(', ')}]`;
  if (entry === undefined) return [`"${name}" is missing; ${expected}.`];
  const isBytes = entry.dtype === 'U8';
  if (isBytes === (dtype === 'uint8') && entry.shape.join() === shape.join()) return [];
  return [`"${name}" is ${isBytes ? 'U8 ' : ''}[${entry.shape.join(', ')}]; ${expected}.`];
}

function storedDtypeOf({ file, entry: { name, dtype } }: StoredTensor): StoredDtype {
  if (dtype !== 'U8') return dtype;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${file.path}: tensor "${name}" has dtype "U8"; F32, F16 or BF16 is needed.`,
  );
}

/** Tensors some exports store though they follow from the rest. */
function isDerived(name: string, config: ModelConfig): boolean {
  return (
    name.endsWith('.rotary_emb.inv_freq') || (config.tiedEmbeddings && name === 'lm_head.weight')
  );
}

/** A stored LM head must then be the embedding, or the configuration is wrong about the two being tied. */
async function checkTiedHead(
  folder: string,
  config: ModelConfig,
  stored: ReadonlyMap<string, StoredTensor>,
  parameters: Weights,
): Promise<void> {
  if (!config.tiedEmbeddings || !stored.has('lm_head.weight')) return;
  const head = await read(stored, 'lm_head.weight');
  const embedding = parameters.get(headName(config))!;
  let place = 0;
  while (place < embedding.length && head[place] === embedding[place]) place += 1;
  if (head.length === embedding.length && place === embedding.length) return;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${folder}: config.json says tie_word_embeddings, but "lm_head.weight" differs from "${embeddingName}". Set it to false.`,
  );
}

async function read(
  stored: ReadonlyMap<string, StoredTensor>,
  name: string,
): Promise<Float32Array> {
  const { file, entry } = stored.get(name)!;
  return file.readFloats(entry);
}
