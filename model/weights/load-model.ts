import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import type { ModelConfig, Quantization } from '../config/architecture.ts';
import { readModelConfig, writeModelConfig } from '../config/model-config.ts';
import {
  embeddingName,
  headName,
  parameterCount,
  parameterSpecs,
  scaleName,
  type ParameterSpec,
  type Weights,
} from '../config/parameters.ts';
import { quantizeWeights, type QuantizeOptions } from './quantize-weights.ts';
import { closeWeights, openWeights, type StoredTensor } from './open-weights.ts';
import { readJson } from '../config/read-json.ts';
import { writeAside, writeSafetensors, type TensorToWrite } from './safetensors.ts';
import type { StoredDtype, TensorEntry } from './safetensors-header.ts';
import type { WeightsFile } from './weights-file.ts';

export interface LoadedModel {
  config: ModelConfig;
  /** By Hugging Face name, in the order of `parameterSpecs`. */
  parameters: Map<string, Float32Array | Uint8Array>;
  /** How the embedding is stored; other tensors may be stored otherwise. In memory all are float32, or packed bytes. */
  storedDtype: StoredDtype;
}

/** A model folder by its headers alone. */
export interface ModelFacts {
  config: ModelConfig;
  /** Values in all its tensors; a tied head counts once. */
  parameterCount: number;
  /** Of its tensors as they are stored. */
  bytes: number;
  storedDtype: StoredDtype;
  /** Paths of the files that hold its weights. */
  files: readonly string[];
  /** Its tensors, in the order of `parameterSpecs`. */
  tensors: readonly Pick<TensorEntry, 'name' | 'dtype' | 'shape'>[];
}

/** A model folder, opened and checked but for its values. */
interface OpenModel {
  config: ModelConfig;
  stored: ReadonlyMap<string, StoredTensor>;
  storedDtype: StoredDtype;
  files: readonly WeightsFile[];
}

const torchNames: Readonly<Record<StoredDtype, string>> = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
};

export interface LoadOptions {
  /** Quantise a float model while it is read, so that no more than one of its matrices is ever held in float32. */
  quantize?: Quantization | undefined;
  /** Looks at every tensor while it is quantised. */
  each?: QuantizeOptions['each'];
}

/**
 * Loads a Hugging Face model folder: config.json with model.safetensors, with shards and their index, or with a .pth.
 *
 * @throws AgentRlError `MODEL_INVALID`, naming every missing, extra and misshapen tensor at once, or the first weight
 *   that is not a number.
 */
export async function loadModel(
  folder: string,
  { quantize, each }: LoadOptions = {},
): Promise<LoadedModel> {
  return withModel(folder, async ({ config, stored, storedDtype }) => {
    const finite = async ({ name }: ParameterSpec): Promise<Float32Array> => {
      const values = await read(stored, name);
      requireFinite(folder, name, values);
      return values;
    };
    const parameters =
      quantize === undefined
        ? await readAll(parameterSpecs(config), stored, finite)
        : await quantizeWeights(config, { quantization: quantize, read: finite, each });
    await checkTiedHead(folder, config, stored, parameters);
    return {
      config: quantize === undefined ? config : { ...config, quantization: quantize },
      parameters,
      storedDtype,
    };
  });
}

/**
 * What can be known of a model folder without reading a single weight.
 *
 * @throws AgentRlError `MODEL_INVALID` for all that `loadModel` refuses, but for values.
 */
export async function inspectModel(folder: string): Promise<ModelFacts> {
  return withModel(folder, ({ config, stored, storedDtype, files }) => {
    const entries = parameterSpecs(config).map(({ name }) => stored.get(name)!.entry);
    return {
      config,
      parameterCount: parameterCount(config),
      bytes: entries.reduce((sum, { start, end }) => sum + end - start, 0),
      storedDtype,
      files: files.map((file) => file.path),
      tensors: entries.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
    };
  });
}

async function withModel<Result>(
  folder: string,
  use: (model: OpenModel) => Result | Promise<Result>,
): Promise<Result> {
  const configFile = path.join(folder, 'config.json');
  const json = await readJson(configFile, 'MODEL_INVALID');
  const weights = await openWeights(folder);
  const { files, tensors: stored } = weights;
  try {
    const config = readModelConfig(json, configFile, stored.keys());
    checkTensors(folder, config, stored);
    return await use({
      config,
      stored,
      // Bytes were refused.
      storedDtype: stored.get(embeddingName)!.entry.dtype as StoredDtype,
      files,
    });
  } finally {
    await closeWeights(weights);
  }
}

/** Writes config.json and model.safetensors, each whole or not at all. The tokenizer's files are copied separately. */
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

function checkTensors(
  folder: string,
  config: ModelConfig,
  stored: ReadonlyMap<string, StoredTensor>,
): void {
  const specs = parameterSpecs(config);
  const expert = [...stored.keys()].find((name) => /\.experts?\./.test(name));
  if (expert !== undefined) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `The weights in ${folder} are of a mixture of experts ("${expert}"); only dense models are supported.`,
    );
  }
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

/** One weight that is not a number makes every logit NaN. */
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

function shapeProblem(
  { name, shape, dtype }: ParameterSpec,
  entry: TensorEntry | undefined,
): string[] {
  const expected = `expected ${dtype === 'uint8' ? 'U8 ' : ''}[${shape.join(', ')}]`;
  if (entry === undefined) return [`"${name}" is missing; ${expected}.`];
  if (entry.dtype === 'U8' && dtype !== 'uint8')
    return [`"${name}" holds bytes (U8); expected F32, F16 or BF16.`];
  if (entry.dtype !== 'U8' && dtype === 'uint8')
    return [`"${name}" is ${entry.dtype} [${entry.shape.join(', ')}]; ${expected}.`];
  if (entry.shape.join() === shape.join()) return [];
  return [`"${name}" is [${entry.shape.join(', ')}]; ${expected}.`];
}

/** Tensors some exports store though they follow from the rest. */
function isDerived(name: string, config: ModelConfig): boolean {
  return (
    /(^|\.)(rotary_emb\.inv_freq|freqs_cos|freqs_sin|mask)$/.test(name) ||
    (config.tiedEmbeddings && name === 'lm_head.weight')
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
