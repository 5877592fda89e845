import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../core/package-root.ts';
import {
  adapterFolders,
  modelLayers,
  type FindBase,
  type ModelLayers,
} from '../../model/open-model.ts';
import { hubModelOf } from './hub/hub-model.ts';

export interface LayersRequest {
  /** A model folder, or that of an adapter. */
  readonly folder: string;
  /** Folders of adapters over it as they were given, in order. */
  readonly adapters?: readonly string[];
  /** What names them to the user: a setting or a flag. */
  readonly namedBy?: string;
  /** Finds the model under an adapter, unless it is among what the package ships; in the hub's cache by default. */
  readonly findBase?: FindBase;
}

/**
 * Where a model and the adapters over it are, each adapter after those it was trained over and none twice.
 *
 * @throws AgentRlError `MODEL_INVALID` when one of them is not there or cannot be read, and what `findBase` throws.
 */
export async function localLayers({
  folder,
  adapters = [],
  namedBy = '--adapter',
  findBase = inCache,
}: LayersRequest): Promise<ModelLayers> {
  const over = await adapterFolders(adapters, namedBy);
  const layers = await modelLayers({
    folder,
    adapters: over,
    findBase: async (base) => shipped(base.name) ?? findBase(base),
  });
  return { base: layers.base, adapters: [...new Set(layers.adapters)] };
}

function shipped(name: string): string | undefined {
  const folder = join(packageRoot(), name);
  return existsSync(join(folder, 'config.json')) ? folder : undefined;
}

/** A job has fetched what it needs before it begins: see `localModel`. */
const inCache: FindBase = async ({ name, revision }) => {
  const model = hubModelOf(name, revision);
  if (model === undefined) return undefined;
  const { cachedHubModel } = await import('./hub/fetch-hub-model.ts');
  return cachedHubModel(model);
};
