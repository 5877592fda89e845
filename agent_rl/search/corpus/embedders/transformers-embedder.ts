import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type * as Transformers from '@huggingface/transformers';
import PQueue from 'p-queue';

import { AgentRlError, messageOf } from '../../../core/errors.ts';
import type { EmbeddedAs, Embedder } from '../../../core/services/search.ts';
import { abortable } from '../../../core/stopping/abort.ts';
import type { TransformersSettings } from '../settings.ts';
import { unitVector } from './unit-vector.ts';
import { append } from '../../../core/long-lists.ts';

/** The parts of the package that are used, so that tests can replace it. */
export type LoadTransformers = () => Promise<Pick<typeof Transformers, 'pipeline'>>;

const load: LoadTransformers = () => import('@huggingface/transformers');

const filesOf = (dtype: string): readonly string[] => {
  const suffix = { fp16: '_fp16', q8: '_quantized' }[dtype] ?? '';
  return ['config.json', 'tokenizer.json', 'tokenizer_config.json', `onnx/model${suffix}.onnx`];
};

/**
 * Runs an embedding model in this process, by `@huggingface/transformers`. From a folder nothing is downloaded.
 *
 * E5 models (Wang et al. 2022, https://arxiv.org/abs/2212.03533) want their texts marked `query: ` and
 * `passage: `, which are the prefixes unless others are set.
 *
 * @throws AgentRlError `EMBEDDER_UNAVAILABLE` when the package or the model's files are not there
 */
export async function openTransformersEmbedder(
  settings: TransformersSettings,
  loadPackage = load,
): Promise<Embedder> {
  const { model, source = 'folder', dtype = 'fp32', revision = 'main' } = settings;
  const local = source === 'folder';
  if (local) requireFiles(resolve(model), dtype);
  const { pipeline } = await packageOf(loadPackage);
  try {
    const extract = await pipeline('feature-extraction', local ? resolve(model) : model, {
      dtype,
      device: 'cpu',
      revision,
      local_files_only: local,
    });
    return new TransformersEmbedder(extract, settings);
  } catch (cause) {
    throw new AgentRlError(
      'EMBEDDER_UNAVAILABLE',
      `dense.model ${JSON.stringify(model)} cannot be loaded from ${local ? 'its folder' : 'the hub'}: ${messageOf(cause)}. Check the name and files, or set dense: none to search by words only.`,
      { cause },
    );
  }
}

function requireFiles(folder: string, dtype: string): void {
  const missing = filesOf(dtype).filter((file) => !existsSync(join(folder, file)));
  if (missing.length === 0) return;
  throw new AgentRlError(
    'EMBEDDER_UNAVAILABLE',
    `dense.model: ${folder} has no ${missing.join(', no ')}. Download the model there, set dense.source: hub to download it by name, or set dense: none to search by words only.`,
  );
}

async function packageOf(loadPackage: LoadTransformers) {
  try {
    return await loadPackage();
  } catch (cause) {
    throw new AgentRlError(
      'EMBEDDER_UNAVAILABLE',
      `dense.type: transformers needs the package @huggingface/transformers, which could not be loaded (${messageOf(cause)}). Run npm install @huggingface/transformers@4.3.1, or set dense: none to search by words only.`,
      { cause },
    );
  }
}

class TransformersEmbedder implements Embedder {
  readonly name: string;
  #shortened = 0;
  // The session uses every core already.
  readonly #queue = new PQueue({ concurrency: 1 });

  constructor(
    private readonly extract: Transformers.FeatureExtractionPipeline,
    private readonly settings: TransformersSettings,
  ) {
    const { model, source = 'folder', dtype = 'fp32', revision } = settings;
    const at =
      source === 'hub'
        ? `${model}@${revision ?? 'main'}`
        : (model.split(/[\\/]/).findLast(Boolean) ?? model);
    const prefixes = JSON.stringify([this.#prefix('query'), this.#prefix('passage')]);
    this.name = `transformers ${at} ${dtype} ${this.#pooling} ${prefixes}`;
  }

  async embed(
    texts: readonly string[],
    as: EmbeddedAs,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const prefixed = texts.map((text) => this.#prefix(as) + text);
    // Padding would put its own vector last.
    const size = this.#pooling === 'last_token' ? 1 : 16;
    const vectors: Float32Array[] = [];
    for (let first = 0; first < prefixed.length; first += size) {
      signal?.throwIfAborted();
      const batch = this.#queue.add(() => this.#batch(prefixed.slice(first, first + size)));
      append(vectors, await abortable(batch, signal));
    }
    return vectors;
  }

  get shortened(): number {
    return this.#shortened;
  }

  async close(): Promise<void> {
    await this.#queue.onIdle();
    await this.extract.dispose();
  }

  async #batch(texts: string[]): Promise<Float32Array[]> {
    try {
      this.#shortened += this.#tooLong(texts);
      const output = await this.extract(texts, { pooling: this.#pooling });
      return (output.tolist() as number[][]).map((row) => unitVector(row, this.name));
    } catch (cause) {
      if (AgentRlError.is(cause)) throw cause;
      throw new AgentRlError(
        'EMBEDDING_FAILED',
        `${this.name} failed on ${texts.length} texts: ${messageOf(cause)}.`,
        { cause },
      );
    }
  }

  #tooLong(texts: readonly string[]): number {
    const { tokenizer } = this.extract;
    const most = tokenizer.model_max_length as number;
    return texts.filter((text) => tokenizer.encode(text).length > most).length;
  }

  get #pooling() {
    return this.settings.pooling ?? 'mean';
  }

  #prefix(as: EmbeddedAs): string {
    const { queryPrefix = 'query: ', passagePrefix = 'passage: ' } = this.settings;
    return as === 'query' ? queryPrefix : passagePrefix;
  }
}
