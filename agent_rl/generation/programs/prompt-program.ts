import {
  type CompileOptions,
  type Engine,
  float,
  type Program,
  type TensorSpec,
} from '../../engine/engine.ts';
import { sequenceInputs } from '../../../model/decoder/decoder.ts';
import { prefill } from '../../../model/decoder/prefill.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { byLayer, weightSpecs } from './placed-inputs.ts';

/** Keys and values of a prompt of some length. */
export function compilePrompt(
  engine: Engine,
  config: ModelConfig,
  length: number,
  options: CompileOptions,
): Promise<Program> {
  const { headDim } = config;
  const specs: TensorSpec[] = [
    ...weightSpecs(config),
    { name: 'tokens', shape: [1, length], dtype: 'int32' },
    float('cos', [length, headDim]),
    float('sin', [length, headDim]),
    { name: 'seenUpTo', shape: [1, length], dtype: 'int32' },
  ];
  return engine.compile(
    specs,
    (inputs) => byLayer(prefill(config, inputs, sequenceInputs(inputs))),
    { ...options, name: `prompt of ${length} tokens` },
  );
}
