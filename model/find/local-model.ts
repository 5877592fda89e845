import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { holdsAdapter } from '../adapters/adapter-files.ts';
import { type HubModel, hubModelOf } from './hub/hub-cache.ts';
import { placesOf } from '../../agent_rl/core/package-root.ts';
import { localLayers, modelFolder } from './model-folder.ts';
import type { LoadedConfig } from '../../agent_rl/config/index.ts';

/** What every search is given. */
interface Search {
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  print: (text: string) => void;
}

/** A model by what the user calls it. */
export interface NamedModel extends Search {
  /** A folder, or `org/name` of the hub. */
  name: string;
  /** Branch, tag or commit of a model of the hub; `main` when absent. */
  revision?: string | undefined;
}

/**
 * The folder of a model that a command names: a folder as it is, one the package ships, or a model of the hub from its
 * cache or downloaded into it. Where the folder is an adapter's whose model is on the hub, that is fetched too.
 *
 * @throws AgentRlError `MODEL_INVALID`; `CONFIG_INVALID` for a revision of what is not a model of the hub; what
 * `fetchHubModel` throws.
 */
export async function localModel(model: NamedModel): Promise<string> {
  const { name, revision } = model;
  const hub = onHub(name, revision);
  if (hub !== undefined) return fetched(hub, model);
  if (revision !== undefined) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `--revision is ${JSON.stringify(revision)}, and ${JSON.stringify(name)} is not a model of the hub; only those have revisions. Leave it out, or name the model as org/name.`,
    );
  }
  const folder = modelFolder({ model: { path: name } }, 'command');
  await fetchBase(folder, model);
  return folder;
}

/**
 * The same job on a model that is on this machine: a model named by hub id is looked up in the hub's cache, or
 * downloaded into it, and its folder takes the place of the id. A folder of that name comes first. The model under an
 * adapter is only fetched: the adapter's folder still names it.
 *
 * @throws AgentRlError `CONFIG_INVALID` for a revision of what is not a model of the hub, and what `fetchHubModel` throws.
 */
export async function withLocalModel<Options extends Search & { loaded: LoadedConfig }>(
  options: Options,
): Promise<Options> {
  const { loaded } = options;
  const { revision, ...model } = loaded.config.model;
  const { hfModelName: name } = model;
  const hub = name === undefined ? undefined : onHub(name, revision);
  if (hub === undefined) {
    const named = name ?? model.path;
    if (revision === undefined) {
      for (const folder of placesOf(named)) await fetchBase(folder, options);
      return options;
    }
    throw new AgentRlError(
      'CONFIG_INVALID',
      `model.revision is ${JSON.stringify(revision)}, and ${JSON.stringify(named)} is not a model of the hub; only those have revisions. Leave it out, or give org/name as model.hfModelName.`,
    );
  }
  const config = {
    ...loaded.config,
    model: { ...model, hfModelName: await fetched(hub, options) },
  };
  return { ...options, loaded: { ...loaded, config } };
}

/** The model of the hub that is meant, if no folder is. */
const onHub = (name: string, revision: string | undefined): HubModel | undefined =>
  placesOf(name).some((place) => existsSync(place)) ? undefined : hubModelOf(name, revision);

async function fetched(model: HubModel, { signal, print }: Search): Promise<string> {
  // Late: most jobs never ask the hub.
  const { fetchHubModel } = await import('./hub/fetch-hub-model.ts');
  try {
    return await fetchHubModel(model, { environment: process.env, signal, print });
  } catch (cause) {
    if (!AgentRlError.is(cause) || cause.code !== 'SOURCE_UNAVAILABLE') throw cause;
    throw new AgentRlError(
      cause.code,
      `${cause.message} (There is no folder ${resolve(model.name)} either.)`,
      { cause },
    );
  }
}

/** Fetches the model under an adapter when the adapter's folder names one of the hub. */
async function fetchBase(folder: string, options: Search): Promise<void> {
  if (!holdsAdapter(folder)) return;
  await localLayers({
    folder,
    findBase: async ({ name, revision }) => {
      const hub = hubModelOf(name, revision);
      if (hub === undefined) return undefined;
      options.print(`The adapter in ${folder} is over ${name}, a model of the hub.`);
      return fetched(hub, options);
    },
  });
}
