import type { Config, LoadedConfig } from '../config/index.ts';
import { adapterTargets } from '../../model/adapters/adapter.ts';
import type { NewAdapter } from '../../model/weights/open-model.ts';

/** The adapter that a config begins with, if any. */
export function newAdapter({ model: { lora }, run }: Config): NewAdapter | undefined {
  return lora && { ...lora, targets: adapterTargets(lora.targets), seed: run.seed };
}

/** What a checkpoint is attempted with: it brings the adapters it was trained with, and those of the config are left out. */
export function withoutAdapters(loaded: LoadedConfig): LoadedConfig {
  const { lora: _lora, ...model } = loaded.config.model;
  return { ...loaded, config: { ...loaded.config, model: { ...model, adapters: [] } } };
}
