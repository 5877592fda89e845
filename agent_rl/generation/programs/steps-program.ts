import {
  type CompileOptions,
  type Engine,
  float,
  type SizedBody,
  type SizedProgram,
  type Sizes,
} from '../../engine/engine.ts';
import type { Tensor } from '../../engine/ops.ts';
import { decodeSteps } from '../../../model/decoder/decode-steps.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { cumulateByBlocks, drawTokens } from '../draw-tokens.ts';
import { byLayer, cacheSpecs, placedInputs, weightSpecs } from './placed-inputs.ts';

/** Feeds several tokens to each row, one after another: those given, and where none is given what was drawn before. */
export function compileSteps(
  engine: Engine,
  config: ModelConfig,
  options: CompileOptions,
): Promise<SizedProgram> {
  const { headDim } = config;
  const at = ({ steps, rows, capacity }: Sizes<'steps' | 'rows' | 'capacity'>): SizedBody => ({
    specs: [
      ...weightSpecs(config),
      { name: 'tokens', shape: [steps, rows], dtype: 'int32' },
      float('cos', [steps, rows, headDim]),
      float('sin', [steps, rows, headDim]),
      float('steps', [steps]),
      float('starts', [rows]),
      float('offsets', [rows]),
      float('positions', [capacity]),
      ...cacheSpecs(config, { rows: [rows], capacity }),
      float('uniforms', [steps, rows]),
      float('temperatures', [rows]),
    ],
    body: (inputs) => drawnBySteps(config, inputs),
  });
  return engine.compileSized(at, ['steps', 'rows', 'capacity'], {
    ...options,
    name: 'several steps of rows',
    runName: ({ steps, rows }) => `${steps} steps of ${rows} rows`,
  });
}

function drawnBySteps(config: ModelConfig, inputs: Record<string, Tensor>): Record<string, Tensor> {
  const placed = { ...placedInputs(inputs, config.layers), steps: inputs['steps']! };
  const { next, logProbs, fresh } = decodeSteps(config, inputs, placed, (logits, ofStep) =>
    drawTokens(logits, ofStep(inputs['uniforms']!), inputs['temperatures']!, cumulateByBlocks),
  );
  return { next, logProbs, ...byLayer(fresh) };
}
