import { existsSync } from 'node:fs';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Adapter, ModelConfig, Quantization } from '../config/architecture.ts';
import { requireFloats, scaleName, unquantized } from '../config/parameters.ts';
import { initialAdapter } from '../adapters/adapter.ts';
import { holdsAdapter, readAdapterConfig, readAdapterWeights } from '../adapters/adapter-files.ts';
import { inspectModel, loadModel } from './load-model.ts';
import { dequantizedTensor, requireQuantizable } from './quantize-weights.ts';

/** An adapter to begin with. */
export interface NewAdapter extends Omit<Adapter, 'name'> {
  /** Keys its first values. */
  seed: number;
}

/** Finds the folder of the model under an adapter, which names it so and not as a folder here. */
export type FindBase = (base: {
  name: string;
  revision: string | undefined;
}) => Promise<string | undefined>;

/** A model and what is over it. */
export interface LayersRequest {
  /** A model folder, or the folder of an adapter, which names the model under it. */
  folder: string;
  /** Folders of adapters over it, in order. */
  adapters?: readonly string[];
  /** The flag or setting that names the adapters. */
  namedBy?: string;
  findBase?: FindBase;
}

export interface ModelRequest extends Pick<LayersRequest, 'folder' | 'adapters'> {
  /** One more over all of them, which changes nothing yet. */
  newAdapter?: NewAdapter | undefined;
  /** Quantise the model's float weights while they are read. */
  quantize?: Quantization | undefined;
}

/** Where the weights of a request are: one model and adapters over it. */
export interface ModelStack {
  base: string;
  adapters: readonly string[];
}

export interface OpenedModel {
  /** Its adapters included. */
  config: ModelConfig;
  /** Tensors of the model and its adapters, by their names in memory. */
  parameters: Map<string, Float32Array | Uint8Array>;
  layers: ModelStack;
}

/** Whether a folder is a model's or an adapter's. */
export function holdsModel(folder: string): boolean {
  return existsSync(path.join(folder, 'config.json')) || holdsAdapter(folder);
}

/**
 * Finds the model under adapters: the folder of an adapter says what it was trained over.
 *
 * @throws AgentRlError `MODEL_INVALID` when the model under an adapter is not where its folder says.
 */
export async function modelLayers({
  folder,
  adapters = [],
  namedBy,
  findBase = async () => undefined,
}: LayersRequest): Promise<ModelStack> {
  refuseRepeats([folder, ...adapters]);
  const over = await adapterFolders(adapters, namedBy && ` ${namedBy} names it.`);
  if (existsSync(path.join(folder, 'config.json'))) return { base: folder, adapters: over };
  if (!holdsAdapter(folder)) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `${folder} holds neither a model (config.json) nor an adapter (adapter_config.json).`,
    );
  }
  const { baseModel, baseRevision } = await readAdapterConfig(folder, 'any');
  const base =
    baseModel === undefined
      ? undefined
      : ([baseModel, path.join(folder, baseModel)].find((place) =>
          existsSync(path.join(place, 'config.json')),
        ) ?? (await findBase({ name: baseModel, revision: baseRevision })));
  if (base === undefined) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `The adapter in ${folder} was trained on ${JSON.stringify(baseModel ?? 'an unnamed model')} (base_model_name_or_path), which is not a model folder on this machine. Give the path of that model, and add the adapter with model.adapters or --adapter.`,
    );
  }
  return { base, adapters: await adapterFolders([folder, ...over]) };
}

/**
 * Folders of adapters, each after those it was trained over and none twice.
 *
 * @throws AgentRlError `MODEL_INVALID` when one holds no adapter, or one that cannot be read.
 */
export async function adapterFolders(
  names: readonly string[],
  note?: string,
): Promise<readonly string[]> {
  const folders = new Set<string>();
  for (const name of names) {
    const folder = adapterFolder(name, note);
    const { under } = await readAdapterConfig(folder, 'any');
    for (const one of under)
      folders.add(adapterFolder(one, ` The adapter in ${folder} was trained on top of it.`));
    folders.add(folder);
  }
  return [...folders];
}

/** Adapters add up, but one adapter is not twice itself: it is more likely that another was meant. */
function refuseRepeats(names: readonly string[]): void {
  const folders = names.map((name) => path.resolve(name));
  const repeated = folders.find((folder, index) => folders.indexOf(folder) !== index);
  if (repeated === undefined || !holdsAdapter(repeated)) return;
  throw new AgentRlError('MODEL_INVALID', `${repeated} is listed twice. List each adapter once.`);
}

function adapterFolder(name: string, note = ''): string {
  const folder = path.resolve(name);
  if (holdsAdapter(folder)) return folder;
  const why = existsSync(folder) ? 'has no adapter_config.json' : 'does not exist';
  throw new AgentRlError(
    'MODEL_INVALID',
    `"${name}" is not an adapter: ${folder} ${why}.${note} Give the folder of a LoRA adapter as PEFT stores it.`,
  );
}

/** The config that a model will have once it is loaded, its adapters included. @throws AgentRlError `MODEL_INVALID` */
export async function describeLayers(
  layers: ModelStack,
  { newAdapter, quantize }: Pick<ModelRequest, 'newAdapter' | 'quantize'> = {},
): Promise<ModelConfig> {
  const { config } = await inspectModel(layers.base);
  if (quantize !== undefined) requireQuantizable(config, quantize);
  const adapters: Adapter[] = [];
  for (const [index, folder] of layers.adapters.entries())
    adapters.push((await readAdapterConfig(folder, adapterName(index))).adapter);
  if (newAdapter !== undefined) {
    const { seed: _seed, ...rest } = newAdapter;
    adapters.push({ ...rest, name: adapterName(adapters.length) });
  }
  return {
    ...config,
    quantization: quantize ?? config.quantization,
    adapters: adapters.length > 0 ? adapters : undefined,
  };
}

/** What `openModel` would give, without the weights. @throws AgentRlError `MODEL_INVALID` */
export async function describeModel(
  request: ModelRequest,
): Promise<Omit<OpenedModel, 'parameters'>> {
  const layers = await modelLayers(request);
  return { config: await describeLayers(layers, request), layers };
}

const adapterName = (index: number): string => `adapter_${index}`;

/** Loads a model and its adapters. @throws AgentRlError `MODEL_INVALID` */
export async function openModel(request: ModelRequest): Promise<OpenedModel> {
  const { config, layers } = await describeModel(request);
  const { parameters } = await loadModel(layers.base, { quantize: request.quantize });
  const adapters = config.adapters ?? [];
  for (const [index, folder] of layers.adapters.entries()) {
    for (const [name, values] of await readAdapterWeights(folder, config, adapters[index]!))
      parameters.set(name, values);
  }
  if (request.newAdapter !== undefined) {
    const rng = new KeyedRng(request.newAdapter.seed, 'new adapter');
    for (const [name, values] of initialAdapter(config, adapters.at(-1)!, rng))
      parameters.set(name, values);
  }
  return { config, parameters, layers };
}

export interface FloatModel extends OpenedModel {
  parameters: Map<string, Float32Array>;
  /** The weights were stored in four bits: these are the floats those stand for. */
  dequantized: boolean;
}

/** Loads a model and its adapters as floats, four-bit weights one after the other. @throws AgentRlError `MODEL_INVALID` */
export async function openFloatModel(request: ModelRequest): Promise<FloatModel> {
  const { config, parameters, layers } = await openModel(request);
  const dequantized = config.quantization !== undefined;
  for (const [name, values] of parameters) {
    if (!(values instanceof Uint8Array)) continue;
    const floats = dequantizedTensor(parameters, name);
    parameters.delete(scaleName(name));
    if (floats !== undefined) parameters.set(name, floats);
  }
  return {
    config: dequantized ? unquantized(config) : config,
    parameters: requireFloats(parameters),
    layers,
    dequantized,
  };
}
