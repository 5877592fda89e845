import type { Config } from '../config/index.ts';
import type { ModelLayers, NewAdapter } from '../../model/weights/open-model.ts';
import { localLayers } from '../../model/find/local-layers.ts';
import { modelFolder } from '../../model/find/model-folder.ts';
import { newAdapter } from './new-adapter.ts';

/** What an engine begins with. */
export interface StartingWeights {
  layers: ModelLayers;
  /** One more adapter over them, which changes nothing yet. */
  newAdapter: NewAdapter | undefined;
}

/**
 * The weights that a config begins with.
 *
 * @param folder - of another model than the config's, such as a checkpoint
 * @throws AgentRlError `MODEL_INVALID` when something of it is not there.
 */
export async function startingWeights(
  config: Config,
  folder = modelFolder(config),
): Promise<StartingWeights> {
  const { adapters } = config.model;
  return {
    layers: await localLayers({ folder, adapters, namedBy: 'model.adapters' }),
    newAdapter: newAdapter(config),
  };
}
