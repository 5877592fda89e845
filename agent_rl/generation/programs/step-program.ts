import {
  type CompileOptions,
  type Engine,
  float,
  type SizedBody,
  type SizedProgram,
  type Sizes,
  type TensorSpec,
  type Program,
} from '../../engine/engine.ts';
import type { Tensor } from '../../engine/ops.ts';
import { decodeStep } from '../../../model/decoder/decode-step.ts';
import { windowTokens } from '../../../model/decoder/windows.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { drawTokens, cumulateByBlocks } from '../draw-tokens.ts';
import { decodeSteps } from '../../../model/decoder/decode-steps.ts';
import { sequenceInputs } from '../../../model/decoder/decoder.ts';
import { prefill } from '../../../model/decoder/prefill.ts';
import { allSpecs } from '../../../model/adapters/adapter.ts';
import { inputSpec } from '../../../model/config/parameters.ts';

/** Feeds up to `width` of some tokens to each row, and draws after `draws` of them. */
export function compileStep(
  engine: Engine,
  config: ModelConfig,
  options: CompileOptions,
): Promise<SizedProgram> {
  const at = (sizes: Sizes<StepSize>): SizedBody => ({
    specs: stepSpecs(config, sizes),
    body: (inputs) => drawn(config, inputs),
  });
  return engine.compileSized(at, ['rows', 'width', 'tokens', 'capacity', 'draws'], {
    ...options,
    name: 'step of rows',
    runName: ({ rows, tokens }) => `step of ${tokens} tokens in ${rows} rows`,
  });
}

type StepSize = 'rows' | 'width' | 'tokens' | 'capacity' | 'draws';

function stepSpecs(
  config: ModelConfig,
  { rows, width, tokens, capacity, draws }: Sizes<StepSize>,
): TensorSpec[] {
  const { headDim, kvHeads } = config;
  return [
    ...weightSpecs(config),
    { name: 'tokens', shape: [tokens], dtype: 'int32' },
    { name: 'laidOut', shape: [rows * width], dtype: 'int32' },
    { name: 'taken', shape: [tokens], dtype: 'int32' },
    { name: 'places', shape: [rows * kvHeads * windowTokens], dtype: 'int32' },
    { name: 'drawnAfter', shape: [draws], dtype: 'int32' },
    float('positions', [capacity]),
    float('steps', [width]),
    float('cos', [tokens, headDim]),
    float('sin', [tokens, headDim]),
    float('starts', [rows]),
    float('offsets', [rows]),
    ...cacheSpecs(config, { rows, capacity }),
    float('uniforms', [draws]),
    float('temperatures', [draws]),
  ];
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
      ...cacheSpecs(config, { rows, capacity }),
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
  const placed = placedInputs(inputs, config.layers);
  const { next, logProbs, fresh } = decodeSteps(config, inputs, placed, (logits, ofStep) =>
    drawTokens(logits, ofStep(inputs['uniforms']!), inputs['temperatures']!, cumulateByBlocks),
  );
  return { next, logProbs, ...byLayer(fresh) };
}

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

const weightSpecs = (config: ModelConfig): TensorSpec[] => allSpecs(config).map(inputSpec);

function placedInputs(inputs: Readonly<Record<string, Tensor>>, layers: number) {
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
    steps: input('steps'),
    drawnAfter: input('drawnAfter'),
    laidOut: input('laidOut'),
    taken: input('taken'),
    past: ofLayers('past'),
    recent: ofLayers('recent'),
  };
}

const byLayer = (layers: readonly { keys: Tensor; values: Tensor }[]): Record<string, Tensor> =>
  Object.fromEntries(
    layers.flatMap(({ keys, values }, layer) => [
      [`k${layer}`, keys],
      [`v${layer}`, values],
    ]),
  );

function cacheSpecs(
  { layers, kvHeads, headDim }: ModelConfig,
  { rows, capacity }: Sizes<'rows' | 'capacity'>,
): TensorSpec[] {
  const past = [rows, kvHeads, capacity, headDim];
  const recent = [rows, kvHeads, windowTokens, headDim];
  return Array.from({ length: layers }, (_, layer) => [
    float(`pastK${layer}`, past),
    float(`pastV${layer}`, past),
    float(`recentK${layer}`, recent),
    float(`recentV${layer}`, recent),
  ]).flat();
}
