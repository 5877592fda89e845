import { packedBytes } from '../generation/programs/packed-weights.ts';
import { weightBytes } from '../../model/adapters/weight-bytes.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import type { EngineServiceOptions } from './engine-options.ts';
import { machineBytes } from './memory-plan.ts';

/** Larger weights are given to each run: every program would hold a copy. */
const largestPacked = 640 * 2 ** 20;

/**
 * Whether programs that draw hold all weights, which ONNX Runtime then packs once and not for each product: where that is asked for, on
 * the processor, if the copies of one thread take no more than a quarter of the memory. Nothing else decides it. It decides last bits,
 * and so depends neither on how many threads draw nor on how many episodes there are.
 */
export const packsWeights = (
  config: ModelConfig,
  { packs = false, device }: Pick<EngineServiceOptions, 'packs' | 'device'>,
  has = machineBytes(),
): boolean =>
  packs &&
  device === 'cpu' &&
  config.quantization === undefined &&
  weightBytes(config) <= largestPacked &&
  4 * packedBytes(config) <= has;
