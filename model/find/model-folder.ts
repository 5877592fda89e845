import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { Config } from '../../agent_rl/config/index.ts';
import { AgentRlError } from '../../agent_rl/core/errors.ts';
import { placesOf } from '../../agent_rl/core/package-root.ts';
import {
  holdsModel,
  modelLayers,
  type FindBase,
  type LayersRequest,
  type ModelStack,
} from '../weights/open-model.ts';
import { hubModelOf } from './hub/hub-cache.ts';

const remedies = {
  config: 'Give a Hugging Face model folder, or a model of the hub as org/name, with --model.',
  command: 'Give a Hugging Face model folder, or a model of the hub as org/name.',
} as const;

/**
 * The folder of a config's model, or of a command's: relative to the working directory, or among what the package ships.
 *
 * @throws AgentRlError `MODEL_INVALID` when it is in neither. Ids of the hub were made folders by `withLocalModel`.
 */
export function modelFolder(
  { model }: { model: Pick<Config['model'], 'path' | 'hfModelName'> },
  namedBy: keyof typeof remedies = 'config',
): string {
  const name = model.hfModelName ?? model.path;
  const places = placesOf(name);
  const found = places.find(holdsModel);
  if (found !== undefined) return found;
  const hub = model.hfModelName === undefined ? '' : ' A model of the hub is named as org/name.';
  throw new AgentRlError(
    'MODEL_INVALID',
    `No model is in "${name}": there is no config.json and no adapter_config.json in ${places.join(' or ')}.${hub} ${remedies[namedBy]}`,
  );
}

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
