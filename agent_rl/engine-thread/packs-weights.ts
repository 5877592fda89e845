import { isPackable, packedBytes } from '../generation/programs/packed-weights.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { machineBytes } from './memory-plan.ts';

/**
 * Whether programs that draw hold packed weights: where that is asked for, if the copies of one thread take no more than a quarter of
 * the memory. It decides last bits, and so depends neither on how many threads draw nor on how many episodes there are.
 */
export const packsWeights = (
  config: ModelConfig,
  { packs = false, device }: Pick<EngineServiceOptions, 'packs' | 'device'>,
  has = machineBytes(),
): boolean => packs && isPackable(config, device) && 4 * packedBytes(config) <= has;
