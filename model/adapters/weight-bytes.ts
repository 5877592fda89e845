import { allSpecs } from './adapter.ts';
import type { ModelConfig } from '../config/architecture.ts';
import type { ParameterSpec } from '../config/parameters.ts';
import { sizeOf } from '../../agent_rl/engine/check-inputs.ts';

export const bytesPerFloat = 4;

export const bytesOf = (specs: readonly ParameterSpec[]): number =>
  specs.reduce(
    (sum, { shape, dtype }) => sum + sizeOf(shape) * (dtype === 'uint8' ? 1 : bytesPerFloat),
    0,
  );

/** A model's weights with its adapters. */
export const weightBytes = (config: ModelConfig): number => bytesOf(allSpecs(config));
