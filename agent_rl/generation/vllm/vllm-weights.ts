import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, link, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

import { messageOf } from '../../core/errors.ts';
import type { WeightRef } from '../../core/services/weights.ts';
import type { RemoteServer } from '../remote/remote-server.ts';
import { generationFailed } from '../remote/server-failures.ts';
import type { Shipment, WeightRoute } from '../remote/weight-shipping.ts';
import { isRecord } from '../../core/is-record.ts';
import { embeddingName } from '../../../model/config/parameters.ts';
import { readJson } from '../../../model/config/read-json.ts';
import { SafetensorsFile, writeSafetensors } from '../../../model/weights/safetensors.ts';

export interface VllmWeightsOptions {
  /** Where weights are put. */
  folder: string;
  /** The same folder as the servers see it. */
  folderOnServer: string;
  /** Seconds that one step of a loading may take. */
  deadlineS: number;
  /** What is trained. */
  kind: Shipment['kind'];
}

/**
 * Weights to vLLM through a folder that both see. A whole model replaces the one there, in a pause; an adapter under
 * a new name, since one that is replaced is read from disk again and again.
 */
export class VllmWeights implements WeightRoute {
  readonly #run = `agent-rl-${randomUUID().slice(0, 8)}`;
  readonly versionsAtOnce: number;
  #count = 0;

  constructor(private readonly options: VllmWeightsOptions) {
    this.versionsAtOnce = options.kind === 'adapter' ? 2 : 1;
  }

  async prepare({ version, location }: WeightRef): Promise<Shipment> {
    const { folder, folderOnServer, kind } = this.options;
    const isAdapter = existsSync(join(location, 'adapter_config.json'));
    if (isAdapter !== (kind === 'adapter'))
      throw generationFailed(
        `The learner published ${isAdapter ? 'an adapter' : 'a whole model'} in ${location}, but the run trains ${kind === 'adapter' ? 'an adapter' : 'a whole model'}.`,
      );
    this.#count += 1;
    // Weights of one version may be published more than once, and a path that is read anew has to be new.
    const parts = [this.#run, String(this.#count)];
    const to = join(folder, ...parts);
    await mkdir(to, { recursive: true });
    if (isAdapter) await cp(location, to, { recursive: true });
    else await untiedCopy(location, to);
    const name = `${this.#run}-${this.#count}-step-${version}`;
    return { version, name, path: posix.join(folderOnServer, ...parts), kind };
  }

  async load(server: RemoteServer, shipment: Shipment, signal?: AbortSignal): Promise<void> {
    if (shipment.kind === 'adapter') await this.#loadAdapter(server, shipment, signal);
    else await this.#loadModel(server, shipment, signal);
  }

  async drop({ version, name, kind }: Shipment, servers: readonly RemoteServer[]): Promise<void> {
    for (const { adapters } of servers)
      if (adapters.get(version) === name) adapters.delete(version);
    if (kind === 'adapter')
      await Promise.all(
        servers
          .filter(({ problem }) => problem === undefined)
          .map((server) =>
            // One that is gone has none, and one that keeps it makes room for others itself.
            this.#post(
              server,
              '/v1/unload_lora_adapter',
              { lora_name: name },
              { mostS: tellS },
            ).catch(() => undefined),
          ),
      );
    const [count] = name.slice(this.#run.length + 1).split('-');
    await rm(join(this.options.folder, this.#run, count ?? ''), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await rm(join(this.options.folder, this.#run), { recursive: true, force: true });
  }

  async #loadModel(
    server: RemoteServer,
    { name, path }: Shipment,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const post = (to: string, body: object = {}) => this.#post(server, to, body, { signal });
    try {
      await post('/pause?mode=keep');
      // One that fails halfway leaves tensors without values: the server can be used no more until it is started anew.
      await post('/collective_rpc', {
        method: 'reload_weights',
        kwargs: { weights_path: path },
      }).catch((thrown: unknown) => {
        // It has tried, and would fail again.
        if (!messageOf(thrown).includes(' answered 500: ')) throw thrown;
        throw generationFailed(messageOf(thrown), thrown);
      });
      await post('/update_weight_version', { new_version: name });
      await post('/reset_prefix_cache');
    } finally {
      // In every case, also after an abort: a server that stays paused answers no request.
      await this.#post(server, '/resume', {}, { mostS: tellS });
    }
    server.weights = name;
  }

  async #loadAdapter(
    server: RemoteServer,
    { version, name, path }: Shipment,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const body = { lora_name: name, lora_path: path };
    try {
      await this.#post(server, '/v1/load_lora_adapter', body, { signal });
    } catch (thrown) {
      // Its name is this version's alone, so that it is the adapter whose loading was not heard of.
      if (!messageOf(thrown).includes('already been loaded')) throw thrown;
    }
    server.model = name;
    server.adapters.set(version, name);
  }

  async #post(
    server: RemoteServer,
    path: string,
    body: object,
    { signal, mostS = Infinity }: { signal?: AbortSignal | undefined; mostS?: number },
  ): Promise<void> {
    const deadlineS = Math.min(this.options.deadlineS, mostS);
    await server.ask({ method: 'POST', path, body, deadlineS }, signal);
  }
}

/** Seconds for what is done at once, and by a server that hangs not at all. */
const tellS = 10;

const weightsFile = 'model.safetensors';
const headFile = 'head.safetensors';
const head = 'lm_head.weight';

/**
 * The model of a folder with a head of its own. vLLM on a CPU keeps a packed copy of the head, which it does not renew from the
 * embedding when weights are loaded; from a tensor of its own it does. Servers that tie the head do not read that.
 *
 * @param from weights as a learner publishes them: config.json and model.safetensors
 */
export async function untiedCopy(from: string, to: string): Promise<void> {
  const config = await readJson(join(from, 'config.json'), 'MODEL_INVALID');
  const json = { ...(isRecord(config) ? config : {}), tie_word_embeddings: false };
  await writeFile(join(to, 'config.json'), JSON.stringify(json, null, 2));
  await linkOrCopy(join(from, weightsFile), join(to, weightsFile));
  const file = await SafetensorsFile.open(join(from, weightsFile));
  try {
    const names = file.entries.map(({ name }) => name);
    const map = Object.fromEntries(names.map((name) => [name, weightsFile]));
    const embedding = file.entries.find(({ name }) => name === embeddingName);
    if (!names.includes(head) && embedding !== undefined) {
      const values = await file.readFloats(embedding);
      const tensors = new Map([[head, { shape: embedding.shape, values }]]);
      // Quantised embeddings are refused by the learner; the others are published in float32.
      await writeSafetensors(join(to, headFile), tensors);
      map[head] = headFile;
    }
    const index = { metadata: {}, weight_map: map };
    await writeFile(join(to, `${weightsFile}.index.json`), JSON.stringify(index, null, 2));
  } finally {
    await file.close();
  }
}

/** The same bytes without writing them twice, where the two are on one disk. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch {
    await cp(from, to);
  }
}
