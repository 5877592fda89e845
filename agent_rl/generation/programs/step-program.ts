import {
  type CompileOptions,
  type Engine,
  float,
  type SizedBody,
  type SizedProgram,
  type Sizes,
} from '../../engine/engine.ts';
import type { Tensor } from '../../engine/ops.ts';
import { decodeStep } from '../../../model/decoder/decode-step.ts';
import { windowTokens } from '../../../model/decoder/windows.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { drawTokens } from '../draw-tokens.ts';
import { byLayer, cacheSpecs, placedInputs, placeSpecs, weightSpecs } from './placed-inputs.ts';

/** Feeds `width` tokens to each row and draws what follows each. */
export function compileStep(
  engine: Engine,
  config: ModelConfig,
  width: number,
  options: CompileOptions,
): Promise<SizedProgram> {
  const at = ({ rows, capacity }: Sizes<'rows' | 'capacity'>): SizedBody => {
    const count = rows * width;
    const places = rows * config.kvHeads * windowTokens;
    return {
      specs: [
        ...weightSpecs(config),
        ...placeSpecs(config, { count, rows, places, positions: capacity }),
        ...cacheSpecs(config, { rows: [rows], capacity }),
        float('uniforms', [count]),
        float('temperatures', [count]),
      ],
      body: (inputs) => drawn(config, inputs),
    };
  };
  const of = width === 1 ? '' : ` of ${width} tokens`;
  return engine.compileSized(at, ['rows', 'capacity'], {
    ...options,
    name: `step of rows${of}`,
    runName: ({ rows }) => `step of ${rows} rows${of}`,
  });
}

function drawn(config: ModelConfig, inputs: Record<string, Tensor>): Record<string, Tensor> {
  const { logits, fresh } = decodeStep(config, inputs, placedInputs(inputs, config.layers));
  const { next, logProbs, distribution, cumulative } = drawTokens(
    logits,
    inputs['uniforms']!,
    inputs['temperatures']!,
  );
  return { next, logProbs, whole: distribution, cumulative, ...byLayer(fresh) };
}
