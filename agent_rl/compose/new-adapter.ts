import type { Config } from '../config/index.ts';
import { adapterTargets } from '../../model/adapter.ts';
import type { NewAdapter } from '../../model/open-model.ts';

/** The adapter that a config begins with, if any. */
export function newAdapter({ model: { lora }, run }: Config): NewAdapter | undefined {
  return lora && { ...lora, targets: adapterTargets(lora.targets), seed: run.seed };
}
