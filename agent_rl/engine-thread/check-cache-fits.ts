import { totalmem } from 'node:os';

import { AgentRlError } from '../core/errors.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import { mebibytes } from '../telemetry/mebibytes.ts';

export interface CacheRequest {
  /** `rollout.workers`: episodes in flight. */
  workers: number;
  /** `policy.maxContextTokens`. */
  maxContextTokens: number;
}

const bytesPerFloat = 4;

/** Keys and values of all episodes in flight, each at its longest. */
export const cacheBytes = (
  { layers, kvHeads, headDim }: ModelConfig,
  { workers, maxContextTokens }: CacheRequest,
): number => 2 * bytesPerFloat * workers * layers * kvHeads * maxContextTokens * headDim;

/**
 * Refuses a generator that the model cannot have or this machine cannot hold, before anything is allocated.
 *
 * @throws AgentRlError `CONFIG_INVALID` when the context is longer than the model's positions, or the cache larger
 * than all memory of the machine.
 */
export function checkCacheFits(
  model: ModelConfig,
  request: CacheRequest,
  machineBytes: number = totalmem(),
): void {
  const { workers, maxContextTokens } = request;
  if (maxContextTokens > model.maxPositions) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `policy.maxContextTokens is ${maxContextTokens}, and the model has ${model.maxPositions} positions. Use at most ${model.maxPositions}.`,
    );
  }
  const bytes = cacheBytes(model, request);
  if (bytes > machineBytes) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The cache of rollout.workers = ${workers} episodes of policy.maxContextTokens = ${maxContextTokens} tokens takes ${mebibytes(bytes)}, and this machine has ${mebibytes(machineBytes)}. Lower either.`,
    );
  }
}
