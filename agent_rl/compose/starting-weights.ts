import type { Config } from '../config/index.ts';
import type { ModelLayers, NewAdapter } from '../../model/open-model.ts';
import { localLayers } from './local-layers.ts';
import { modelFolder } from './model-folder.ts';
import { newAdapter } from './new-adapter.ts';

/** What an engine begins with. */
export interface StartingWeights {
  readonly layers: ModelLayers;
  /** One more adapter over them, which changes nothing yet. */
  readonly newAdapter: NewAdapter | undefined;
}

/**
 * The weights that a config begins with; or those of a checkpoint, which names itself all it was trained over, so
 * that nothing of `model.adapters` and `model.lora` comes on top of it.
 *
 * @throws AgentRlError `MODEL_INVALID` when something of it is not there.
 */
export async function startingWeights(
  config: Config,
  checkpoint?: string,
): Promise<StartingWeights> {
  if (checkpoint !== undefined)
    return { layers: await localLayers({ folder: checkpoint }), newAdapter: undefined };
  const { adapters } = config.model;
  const request = { folder: modelFolder(config), adapters, namedBy: 'model.adapters' };
  return { layers: await localLayers(request), newAdapter: newAdapter(config) };
}
