import { isPackable, packedBytes } from '../generation/programs/packed-weights.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { machineBytes } from './memory-plan.ts';

/** Whether the programs of an engine hold packed weights: where that is asked for, if they take no more than half of the memory. */
export const packsWeights = (
  config: ModelConfig,
  {
    packs = false,
    device,
    decoders = 1,
  }: Pick<EngineServiceOptions, 'packs' | 'device' | 'decoders'>,
  has = machineBytes(),
): boolean =>
  packs && device === 'cpu' && isPackable(config) && decoders * packedBytes(config) <= has / 2;
