import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { Config, LoadedConfig } from '../../agent_rl/config/index.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { placesOf } from '../../agent_rl/core/package-root.ts';
import { holdsAdapter } from '../adapters/adapter-files.ts';
import {
  holdsModel,
  modelLayers,
  type FindBase,
  type LayersRequest,
  type ModelStack,
} from '../weights/open-model.ts';
import { type HubModel, hubModelOf } from './hub/hub-cache.ts';

const remedies = {
  config:
    'Set --model to a Hugging Face model folder or to a model of the hub as org/name. If you meant a checkpoint of a run, train that run first.',
  command: 'Give a Hugging Face model folder, or a model of the hub as org/name.',
  folder: 'Give a Hugging Face model folder or a checkpoint.',
} as const;

/**
 * The folder of a config's model, or of a command's: relative to the working directory, or among what the package ships.
 *
 * @throws AgentRlError `MODEL_INVALID` when it is in neither. Ids of the hub were made folders by `withLocalModel`.
 */
export function modelFolder(
  { model: { path: name } }: { model: Pick<Config['model'], 'path'> },
  namedBy: keyof typeof remedies = 'config',
): string {
  const places = placesOf(name);
  const found = places.find(holdsModel);
  if (found !== undefined) return found;
  const run = places.find((place) => existsSync(join(place, 'config.yaml')));
  if (run !== undefined) {
    throw new AgentRlError(
      'MODEL_INVALID',
      `"${name}" is the folder of a run, not of a model. Give one of its checkpoints (${join(name, 'checkpoints', 'step-N')}), or use a command that takes a run: agent-rl eval, chat or export ${name}.`,
    );
  }
  const hub =
    hubModelOf(name) === undefined || namedBy !== 'config'
      ? ''
      : ' To use a model of the hub, set policy.type to huggingface.';
  throw new AgentRlError(
    'MODEL_INVALID',
    `"${name}" holds no model: there is no config.json and no adapter_config.json in ${places.join(' or ')}.${insideText(name, places)}${hub} ${remedies[namedBy]}`,
  );
}

/** Names the models in the folders of a folder that holds none itself. */
function insideText(name: string, places: readonly string[]): string {
  const models = places.filter(isFolder).flatMap((place) =>
    readdirSync(place)
      .filter((inside) => holdsModel(join(place, inside)))
      .map((inside) => join(name, inside)),
  );
  return models.length === 0 ? '' : ` Models in this folder: ${[...new Set(models)].join(', ')}.`;
}

const isFolder = (place: string): boolean =>
  statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

/** Where tokenizer and template are: an adapter may come without, and then speaks as the model under it. */
export async function textFolder(folder: string): Promise<string> {
  if (existsSync(join(folder, 'tokenizer.json'))) return folder;
  return (await localLayers({ folder })).base;
}

/**
 * Where a model and the adapters over it are. The model under an adapter that is not a folder beside it is looked for
 * among what the package ships, and then by `findBase`: in the hub's cache by default.
 *
 * @throws AgentRlError `MODEL_INVALID` when one of them is not there or cannot be read, and what `findBase` throws.
 */
export const localLayers = ({
  findBase = inCache,
  ...request
}: LayersRequest): Promise<ModelStack> =>
  modelLayers({
    namedBy: '--adapter',
    ...request,
    findBase: async (base) =>
      placesOf(base.name).find((place) => existsSync(join(place, 'config.json'))) ?? findBase(base),
  });

/** A job has fetched what it needs before it begins: see `localModel`. */
const inCache: FindBase = async ({ name, revision }) => {
  const model = hubModelOf(name, revision);
  if (model === undefined) return undefined;
  const { cachedHubModel } = await import('./hub/fetch-hub-model.ts');
  return cachedHubModel(model);
};

interface Search {
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  print: (text: string) => void;
  /** Neither where the model lies nor the progress of downloads is shown. */
  quiet?: boolean | undefined;
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
      `--revision is ${JSON.stringify(revision)}, but ${JSON.stringify(name)} is not a model of the hub, and only models of the hub have revisions. Remove --revision, or give the model as org/name.`,
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
  const { path: name } = model;
  const hub = loaded.config.policy.type === 'minimind' ? undefined : onHub(name, revision);
  if (hub === undefined) {
    if (revision === undefined) {
      for (const folder of placesOf(name)) await fetchBase(folder, options);
      return options;
    }
    throw new AgentRlError(
      'CONFIG_INVALID',
      `model.revision is ${JSON.stringify(revision)}, but the run does not load ${JSON.stringify(name)} from the hub, and only models of the hub have revisions. Remove model.revision, or set model.path to org/name and policy.type to huggingface.`,
    );
  }
  const config = { ...loaded.config, model: { ...model, path: await fetched(hub, options) } };
  return { ...options, loaded: { ...loaded, config } };
}

/** The model of the hub that is meant, if no folder is. */
const onHub = (name: string, revision: string | undefined): HubModel | undefined =>
  placesOf(name).some((place) => existsSync(place)) ? undefined : hubModelOf(name, revision);

async function fetched(model: HubModel, { signal, print, quiet }: Search): Promise<string> {
  // Late: most jobs never ask the hub.
  const { fetchHubModel } = await import('./hub/fetch-hub-model.ts');
  try {
    return await fetchHubModel(model, {
      environment: process.env,
      signal,
      print: quiet === true ? () => undefined : print,
      quiet,
    });
  } catch (cause) {
    if (!AgentRlError.is(cause) || cause.code !== 'SOURCE_UNAVAILABLE') throw cause;
    throw new AgentRlError(
      cause.code,
      `${cause.message} (The folder ${resolve(model.name)} does not exist either.)`,
      { cause },
    );
  }
}

async function fetchBase(folder: string, options: Search): Promise<void> {
  if (!holdsAdapter(folder)) return;
  await localLayers({
    folder,
    findBase: async ({ name, revision }) => {
      const hub = hubModelOf(name, revision);
      if (hub === undefined) return undefined;
      options.print(`The adapter in ${folder} was trained on ${name}, a model of the hub.`);
      return fetched(hub, options);
    },
  });
}
