import type {
  CompileOptions,
  Engine,
  SizedBody,
  SizedProgram,
  Sizes,
} from '../../engine/engine.ts';
import { chunkStep } from '../../../model/decoder/chunk-step.ts';
import { windowTokens } from '../../../model/decoder/windows.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { byLayer, cacheSpecs, placedInputs, placeSpecs, weightSpecs } from './placed-inputs.ts';

/** Keys and values of some tokens that follow what one row holds. */
export function compileChunk(
  engine: Engine,
  config: ModelConfig,
  options: CompileOptions,
): Promise<SizedProgram> {
  const at = ({ count, capacity }: Sizes<'count' | 'capacity'>): SizedBody => {
    const places = count + windowTokens + capacity;
    return {
      specs: [
        ...weightSpecs(config),
        ...placeSpecs(config, { count, rows: count, places, positions: places }),
        ...cacheSpecs(config, { rows: [], capacity }),
      ],
      body: (inputs) => byLayer(chunkStep(config, inputs, placedInputs(inputs, config.layers))),
    };
  };
  return engine.compileSized(at, ['count', 'capacity'], {
    ...options,
    name: 'tokens of one context',
    runName: ({ count }) => `${count} tokens of one context`,
  });
}
