import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { Adapter, ModelConfig } from '#model/config/architecture.ts';
import {
  adapterParameter,
  adapterScale,
  adapterSpecs,
  adapterTargets,
} from '#model/adapters/adapter.ts';
import { writeAdapter } from '#model/adapters/adapter-files.ts';
import { sizeOf } from '#agent_rl/engine/check-inputs.ts';
import { layerParameter } from '#model/config/parameters.ts';

const scale = { rank: 3, alpha: 6, dropout: 0.1, rankStabilised: false };
export const tinyAdapter: Adapter = {
  name: 'tiny',
  ...scale,
  targets: adapterTargets(['all-linear']),
};

type Weights = ReadonlyMap<string, Float32Array>;

/** Both matrices away from zero, so that the adapter changes what the model says. */
export const tinyAdapterWeights = (config: ModelConfig, adapter: Adapter = tinyAdapter) =>
  new Map(
    adapterSpecs(config, adapter).map(({ name, shape }) => {
      const rng = new KeyedRng(5, name);
      return [name, new Float32Array(sizeOf(shape)).map(() => 0.2 * rng.normal())];
    }),
  );

/** Writes the adapter of `tinyAdapterWeights` as PEFT would. */
export const saveTinyAdapter = (
  folder: string,
  config: ModelConfig,
  { adapter = tinyAdapter, baseModel = 'elsewhere' } = {},
): Promise<void> =>
  writeAdapter(folder, config, {
    adapter,
    baseModel,
    parameters: tinyAdapterWeights(config, adapter),
  });

/** W + scale B A entry by entry. */
export function mergedInLoops(
  weights: Weights,
  adapted: Weights,
  config: ModelConfig,
  adapter = tinyAdapter,
) {
  const merged = new Map([...weights].map(([name, values]) => [name, Float32Array.from(values)]));
  for (let layer = 0; layer < config.layers; layer++) {
    for (const module of adapter.targets) {
      const weight = merged.get(layerParameter(layer, `${module}.weight`))!;
      const a = adapted.get(adapterParameter(adapter, layer, module, 'A'))!;
      const b = adapted.get(adapterParameter(adapter, layer, module, 'B'))!;
      const width = a.length / adapter.rank;
      for (let i = 0; i < weight.length; i++) {
        const [row, column] = [Math.floor(i / width), i % width];
        let product = 0;
        for (let k = 0; k < adapter.rank; k++)
          product += b[row * adapter.rank + k]! * a[k * width + column]!;
        weight[i]! += adapterScale(adapter) * product;
      }
    }
  }
  return merged;
}
