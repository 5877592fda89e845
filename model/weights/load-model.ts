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
} from '../config/parameters.ts';
import { quantizeWeights, type QuantizeOptions } from './quantize-weights.ts';
import { closeWeights, openWeights, type Weights } from './open-weights.ts';
import { readJson } from '../config/read-json.ts';
import { requireFinite } from './read-values.ts';
import { writeAside, writeSafetensors, type TensorToWrite } from './safetensors.ts';
import type { StoredDtype, TensorEntry } from './safetensors-header.ts';

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
  /** Bytes of its tensors as they are stored. */
  bytes: number;
  storedDtype: StoredDtype;
  /** Paths of the files that hold its weights. */
  files: readonly string[];
  /** Its tensors, in the order of `parameterSpecs`. */
  tensors: readonly Pick<TensorEntry, 'name' | 'dtype' | 'shape'>[];
}

interface OpenModel extends Weights {
  config: ModelConfig;
  storedDtype: StoredDtype;
}

const torchNames: Readonly<Record<StoredDtype, string>> = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
};

/**
 * Loads a Hugging Face model folder: config.json with weights as `openWeights` finds them.
 *
 * @param options `quantize` quantises a float model while it is read, so that no more than one of its matrices is ever
 *   held in float32; `each` looks at every tensor while that is done.
 * @throws AgentRlError `MODEL_INVALID`, naming every missing, extra and misshapen tensor at once, or the first weight
 *   that is not a number.
 */
export async function loadModel(
  folder: string,
  { quantize, each }: { quantize?: Quantization | undefined; each?: QuantizeOptions['each'] } = {},
): Promise<LoadedModel> {
  return withModel(folder, async ({ config, tensors, storedDtype }) => {
    const finite = async ({ name }: ParameterSpec): Promise<Float32Array> => {
      const values = await read(tensors, name);
      requireFinite(folder, name, values);
      return values;
    };
    if (quantize !== undefined) {
      const options = { quantization: quantize, read: finite, each };
      const parameters = await quantizeWeights(config, options);
      await checkTiedHead(folder, config, tensors, parameters);
      return { config: { ...config, quantization: quantize }, parameters, storedDtype };
    }
    const parameters = new Map<string, Float32Array | Uint8Array>();
    for (const spec of parameterSpecs(config)) {
      const { file, entry } = tensors.get(spec.name)!;
      const held = spec.dtype === 'uint8' ? file.read(entry) : finite(spec);
      parameters.set(spec.name, await held);
    }
    await checkTiedHead(folder, config, tensors, parameters);
    return { config, parameters, storedDtype };
  });
}

/**
 * What can be known of a model folder without reading a single weight.
 *
 * @throws AgentRlError `MODEL_INVALID` for all that `loadModel` refuses, but for values.
 */
export async function inspectModel(folder: string): Promise<ModelFacts> {
  return withModel(folder, ({ config, tensors, storedDtype, files }) => {
    const entries = parameterSpecs(config).map(({ name }) => tensors.get(name)!.entry);
    return {
      config,
      parameterCount: parameterCount(config),
      bytes: entries.reduce((sum, { start, end }) => sum + end - start, 0),
      storedDtype,
      files: files.map((file) => file.path),
      tensors: parameterSpecs(config).map(({ name }) => {
        const { dtype, shape } = tensors.get(name)!.entry;
        return { name, dtype, shape };
      }),
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
  const tensors = wholeNames(weights.tensors);
  try {
    const config = readModelConfig(json, configFile, tensors.keys());
    checkTensors(folder, config, tensors);
    // Bytes were refused.
    const storedDtype = tensors.get(embeddingName)!.entry.dtype as StoredDtype;
    return await use({ ...weights, tensors, config, storedDtype });
  } finally {
    await closeWeights(weights);
  }
}

/** A decoder that was saved without its head has names without "model."; Transformers adds it as well. */
function wholeNames(tensors: Tensors): Tensors {
  if (!tensors.has(bareName(embeddingName)) || tensors.has(embeddingName)) return tensors;
  return new Map([...tensors].map(([name, tensor]) => [wholeName(name), tensor]));
}

const wholeName = (name: string): string =>
  name.startsWith('model.') || name === 'lm_head.weight' ? name : `model.${name}`;

const bareName = (name: string): string => name.replace(/^model\./, '');

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
    tensors.set(name, { shape, values, dtype: isScale ? 'F32' : undefined });
  }
  await mkdir(folder, { recursive: true });
  const json = JSON.stringify(writeModelConfig(config, torchNames[storedDtype]), null, 2);
  await writeAside(path.join(folder, 'config.json'), [Buffer.from(`${json}\n`)]);
  await writeSafetensors(path.join(folder, 'model.safetensors'), tensors, {
    dtype: storedDtype,
    metadata,
  });
}

type Tensors = Weights['tensors'];

function checkTensors(folder: string, config: ModelConfig, stored: Tensors): void {
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
  const shown = problems.slice(0, 40).join('\n- ');
  const more = problems.length > 40 ? `\n- … and ${problems.length - 40} more.` : '';
  throw new AgentRlError(
    'MODEL_INVALID',
    `The weights in ${folder} do not fit its config.json:\n- ${shown}${more}`,
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
  stored: Tensors,
  parameters: ReadonlyMap<string, Float32Array | Uint8Array>,
): Promise<void> {
  if (!config.tiedEmbeddings || !stored.has('lm_head.weight')) return;
  const head = await read(stored, 'lm_head.weight');
  const embedding = parameters.get(headName(config))!;
  let place = 0;
  while (place < embedding.length && head[place] === embedding[place]) place += 1;
  if (head.length === embedding.length && place === embedding.length) return;
  throw new AgentRlError(
    'MODEL_INVALID',
    `${folder}: config.json sets tie_word_embeddings, but "lm_head.weight" differs from "${embeddingName}". Set tie_word_embeddings to false.`,
  );
}

function read(stored: Tensors, name: string): Promise<Float32Array> {
  const { file, entry } = stored.get(name)!;
  return file.readFloats(entry);
}
