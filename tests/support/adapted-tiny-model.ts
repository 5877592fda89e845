import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Adapter, ModelConfig } from '#model/config/architecture.ts';
import { initialParameters, type Weights } from '#model/config/parameters.ts';
import { tinyAdapterWeights } from './tiny-adapter.ts';
import { tinyModelConfig } from './tiny-model.ts';

export interface TinyModel {
  config: ModelConfig;
  weights: Weights;
}

export const wholeTinyModel: TinyModel = {
  config: tinyModelConfig,
  weights: initialParameters(tinyModelConfig, new KeyedRng(3)),
};

/** The model with one adapter more. */
export const withTinyAdapter = ({ config, weights }: TinyModel, adapter: Adapter): TinyModel => ({
  config: { ...config, adapters: [...(config.adapters ?? []), adapter] },
  weights: new Map([...weights, ...tinyAdapterWeights(config, adapter)]),
});
