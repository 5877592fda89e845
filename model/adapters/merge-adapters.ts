import type { ModelConfig } from '../config/architecture.ts';
import { adapterParameter, adapterScale } from './adapter.ts';
import { layerParameter, parameter } from '../config/parameters.ts';

/** The two matrices of an adapter on one layer: A [rank, in] and B [out, rank]. */
interface LowRank {
  a: Float32Array;
  b: Float32Array;
  rank: number;
  scale: number;
}

/**
 * Adds every adapter of a model to the weights it is on, one tensor at a time and in place, so that no second copy of
 * the model is held: W + scale B A.
 *
 * @returns the model's configuration without adapters, and the number of tensors that were changed.
 */
export function mergeAdapters(
  config: ModelConfig,
  parameters: ReadonlyMap<string, Float32Array>,
): { config: ModelConfig; merged: number } {
  const { adapters = [], ...bare } = config;
  const tensors = Object.fromEntries(parameters);
  const changed = new Set<string>();
  for (const adapter of adapters) {
    for (let layer = 0; layer < config.layers; layer++) {
      for (const module of adapter.targets) {
        const name = layerParameter(layer, `${module}.weight`);
        const matrix = (which: 'A' | 'B'): Float32Array =>
          parameter(tensors, adapterParameter(adapter, layer, module, which));
        const { rank } = adapter;
        const product = { a: matrix('A'), b: matrix('B'), rank, scale: adapterScale(adapter) };
        addLowRank(parameter(tensors, name), product);
        changed.add(name);
      }
    }
  }
  return { config: bare, merged: changed.size };
}

/** weight [out, in] += scale B A; each sum is rounded to float32 once. */
function addLowRank(weight: Float32Array, { a, b, rank, scale }: LowRank): void {
  const width = a.length / rank;
  const sums = new Float64Array(width);
  for (let row = 0; row * width < weight.length; row++) {
    sums.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = scale * b[row * rank + k]!;
      const from = k * width;
      for (let column = 0; column < width; column++) sums[column]! += factor * a[from + column]!;
    }
    const start = row * width;
    for (let column = 0; column < width; column++) weight[start + column]! += sums[column]!;
  }
}
