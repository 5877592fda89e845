import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { placesOf } from '../../agent_rl/core/package-root.ts';
import {
  modelLayers,
  type FindBase,
  type LayersRequest,
  type ModelStack,
} from '../weights/open-model.ts';
import { hubModelOf } from './hub/hub-model.ts';

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
