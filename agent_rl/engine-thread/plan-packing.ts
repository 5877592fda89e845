import { isPackable, packedBytes } from '../generation/programs/packed-weights.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { machineBytes, type MemoryPlan } from './memory-plan.ts';

/**
 * What is planned, and whether programs that draw hold packed weights: where that is asked for and possible, and there is memory for
 * them too.
 */
export function planPacking(
  plan: MemoryPlan,
  config: ModelConfig,
  options: Pick<EngineServiceOptions, 'packs' | 'device' | 'decoders' | 'beside'>,
  has = machineBytes(),
): { plan: MemoryPlan; packs: boolean } {
  const { packs = false, device, decoders = 1, beside = 0 } = options;
  const held = decoders * packedBytes(config);
  if (!packs || !isPackable(config, device) || beside + plan.total + held > has)
    return { plan, packs: false };
  return { plan: { ...plan, runtime: plan.runtime + held, total: plan.total + held }, packs };
}
