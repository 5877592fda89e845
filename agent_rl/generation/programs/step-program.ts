import {
  type CompileOptions,
  type Engine,
  float,
  type SizedBody,
  type SizedProgram,
  type Sizes,
  type TensorSpec,
} from '../../engine/engine.ts';
import { tf, type Tensor } from '../../engine/ops.ts';
import { decodeStep } from '../../../model/decoder/decode-step.ts';
import { windowTokens } from '../../../model/decoder/windows.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { drawTokens } from '../draw-tokens.ts';
import { tokensAtOnce } from './step-sizes.ts';
import { byLayer, cacheSpecs, placedInputs, placeSpecs, weightSpecs } from './placed-inputs.ts';

/** Feeds `width` tokens to each row and draws what follows each. */
export function compileStep(
  engine: Engine,
  config: ModelConfig,
  width: number,
  options: CompileOptions,
): Promise<SizedProgram> {
  const at = ({ rows, capacity }: Sizes<'rows' | 'capacity'>): SizedBody => ({
    specs: stepSpecs(config, { rows, width, capacity }),
    body: (inputs) => drawn(config, inputs),
  });
  const of = width === 1 ? '' : ` of ${width} tokens`;
  return engine.compileSized(at, ['rows', 'capacity'], {
    ...options,
    name: `step of rows${of}`,
    runName: ({ rows }) => `step of ${rows} rows${of}`,
  });
}

/** Feeds one token to one row and draws what follows it. The bits are those of a step of several rows if `canBeAlone`. */
export const compileAlone = (
  engine: Engine,
  config: ModelConfig,
  options: CompileOptions,
): Promise<SizedProgram> =>
  engine.compileSized(
    ({ capacity }: Sizes<'capacity'>) => ({
      specs: stepSpecs(config, { rows: 1, width: 1, capacity }),
      body: (inputs) => drawn(config, inputs, tokensAtOnce),
    }),
    ['capacity'],
    { ...options, name: 'step of one row' },
  );

function stepSpecs(
  config: ModelConfig,
  { rows, width, capacity }: { rows: number; width: number; capacity: number },
): TensorSpec[] {
  const count = rows * width;
  const places = rows * config.kvHeads * windowTokens;
  return [
    ...weightSpecs(config),
    ...placeSpecs(config, { count, rows, places, positions: capacity }),
    ...cacheSpecs(config, { rows: [rows], capacity }),
    float('uniforms', [count]),
    float('temperatures', [count]),
  ];
}

/** @param times as how many equal rows each is drawn from; the first counts */
function drawn(
  config: ModelConfig,
  inputs: Record<string, Tensor>,
  times = 1,
): Record<string, Tensor> {
  const { logits, fresh } = decodeStep(config, inputs, placedInputs(inputs, config.layers));
  const repeated = (rows: Tensor): Tensor =>
    times === 1 ? rows : tf.concat(Array.from({ length: times }, () => rows));
  const { next, logProbs, distribution, cumulative } = drawTokens(
    repeated(logits),
    repeated(inputs['uniforms']!),
    repeated(inputs['temperatures']!),
  );
  return { next, logProbs, whole: distribution, cumulative, ...byLayer(fresh) };
}
