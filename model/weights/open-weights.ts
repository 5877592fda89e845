import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { isRecord } from '../../agent_rl/core/is-record.ts';
import { TorchFile } from './pickle/torch-file.ts';
import { readJson } from '../config/read-json.ts';
import { invalid, type TensorEntry, type WeightsFile } from './safetensors-header.ts';
import { SafetensorsFile } from './safetensors.ts';

/** A tensor and the file it is in. */
export interface StoredTensor {
  file: WeightsFile;
  entry: TensorEntry;
}

/** The open files of a model folder and what they hold, by name. */
export interface Weights {
  files: readonly WeightsFile[];
  tensors: ReadonlyMap<string, StoredTensor>;
}

/** Where Transformers looks for weights, in its order. */
const names = ['model.safetensors', 'pytorch_model.bin'];

/**
 * Opens the weights of a model folder: model.safetensors, or the shards of model.safetensors.index.json, or the same of
 * pytorch_model.bin, or else the one .pth file there is, as MiniMind has them. Close them with `closeWeights`.
 *
 * @throws AgentRlError `MODEL_INVALID`
 */
export async function openWeights(folder: string): Promise<Weights> {
  for (const name of names) {
    const single = path.join(folder, name);
    const index = `${single}.index.json`;
    if (existsSync(single)) return opened([single]);
    if (existsSync(index)) return openShards(index);
  }
  return opened([path.join(folder, thePth(folder))]);
}

function thePth(folder: string): string {
  const files = readdirSync(folder).filter((name) => name.endsWith('.pth'));
  if (files.length === 1) return files[0]!;
  throw new AgentRlError(
    'MODEL_INVALID',
    files.length === 0
      ? `${folder} holds no weights: expected model.safetensors or pytorch_model.bin, the .index.json of either with its shards, or a .pth file of MiniMind.`
      : `${folder} holds several models: ${files.toSorted().join(', ')}. Keep only one of them.`,
  );
}

export async function closeWeights({ files }: Pick<Weights, 'files'>): Promise<void> {
  await Promise.all(files.map((file) => file.close()));
}

async function opened(
  paths: readonly string[],
  check: (weights: Weights) => void = () => undefined,
): Promise<Weights> {
  const files: WeightsFile[] = [];
  try {
    for (const file of paths) {
      const kind = /\.(?:pth|bin)$/.test(file) ? TorchFile : SafetensorsFile;
      files.push(await kind.open(file));
    }
    const weights = { files, tensors: tensorsOf(files) };
    check(weights);
    return weights;
  } catch (error) {
    await closeWeights({ files });
    throw error;
  }
}

async function openShards(index: string): Promise<Weights> {
  const shardOf = await readIndex(index);
  const folder = path.dirname(index);
  const shards = [...new Set(shardOf.values())].toSorted();
  const missing = shards.filter((shard) => !existsSync(path.join(folder, shard)));
  if (missing.length > 0) {
    const them = missing.length === 1 ? 'that shard' : 'those shards';
    throw invalid(
      index,
      `it names ${missing.join(', ')}, but the folder lacks ${them}; download ${them} too`,
    );
  }
  return opened(
    shards.map((shard) => path.join(folder, shard)),
    ({ tensors }) => {
      for (const [name, shard] of shardOf) {
        const holder = tensors.get(name)?.file.path;
        if (holder !== undefined && path.basename(holder) === shard) continue;
        const where = holder === undefined ? 'no shard' : path.basename(holder);
        throw invalid(
          index,
          `it places tensor "${name}" in ${shard}, but ${where} holds it; the index and the shards belong to different models`,
        );
      }
    },
  );
}

async function readIndex(index: string): Promise<ReadonlyMap<string, string>> {
  const json = await readJson(index, 'MODEL_INVALID');
  const map = isRecord(json) && isRecord(json['weight_map']) ? json['weight_map'] : {};
  const shardOf = new Map<string, string>();
  for (const [name, shard] of Object.entries(map)) {
    if (typeof shard === 'string' && path.basename(shard) === shard) shardOf.set(name, shard);
  }
  if (shardOf.size === 0 || shardOf.size !== Object.keys(map).length) {
    throw invalid(index, 'weight_map must name, for each tensor, a file in the same folder');
  }
  return shardOf;
}

function tensorsOf(files: readonly WeightsFile[]): Map<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>();
  for (const file of files) {
    for (const entry of file.entries) {
      const before = tensors.get(entry.name);
      if (before !== undefined)
        throw invalid(file.path, `its tensor "${entry.name}" is in ${before.file.path} as well`);
      tensors.set(entry.name, { file, entry });
    }
  }
  return tensors;
}
