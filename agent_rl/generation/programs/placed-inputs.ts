import { float, type TensorSpec } from '../../engine/engine.ts';
import type { Tensor } from '../../engine/ops.ts';
import { windowTokens } from '../../../model/decoder/windows.ts';
import { allSpecs } from '../../../model/adapters/adapter.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { inputSpec } from '../../../model/config/parameters.ts';

export const weightSpecs = (config: ModelConfig): TensorSpec[] => allSpecs(config).map(inputSpec);

/** What says which tokens are fed and where they stand. */
export const placeSpecs = (
  { headDim }: ModelConfig,
  of: { count: number; rows: number; places: number; positions: number },
) => [
  { name: 'tokens', shape: [of.count], dtype: 'int32' } as const,
  { name: 'places', shape: [of.places], dtype: 'int32' } as const,
  float('positions', [of.positions]),
  float('cos', [of.count, headDim]),
  float('sin', [of.count, headDim]),
  float('starts', [of.rows]),
  float('offsets', [of.rows]),
];

export function placedInputs(inputs: Readonly<Record<string, Tensor>>, layers: number) {
  const input = (name: string): Tensor => inputs[name] as Tensor;
  const ofLayers = (kind: string) =>
    Array.from({ length: layers }, (_, layer) => ({
      keys: input(`${kind}K${layer}`),
      values: input(`${kind}V${layer}`),
    }));
  return {
    tokens: input('tokens'),
    cos: input('cos'),
    sin: input('sin'),
    starts: input('starts'),
    offsets: input('offsets'),
    places: input('places'),
    positions: input('positions'),
    past: ofLayers('past'),
    recent: ofLayers('recent'),
  };
}

export const byLayer = (
  layers: readonly { keys: Tensor; values: Tensor }[],
): Record<string, Tensor> =>
  Object.fromEntries(
    layers.flatMap(({ keys, values }, layer) => [
      [`k${layer}`, keys],
      [`v${layer}`, values],
    ]),
  );

export function cacheSpecs(
  { layers, kvHeads, headDim }: ModelConfig,
  { rows, capacity }: { rows: readonly number[]; capacity: number },
): TensorSpec[] {
  const past = [...rows, kvHeads, capacity, headDim];
  const recent = [...rows, kvHeads, windowTokens, headDim];
  return Array.from({ length: layers }, (_, layer) => [
    float(`pastK${layer}`, past),
    float(`pastV${layer}`, past),
    float(`recentK${layer}`, recent),
    float(`recentV${layer}`, recent),
  ]).flat();
}
