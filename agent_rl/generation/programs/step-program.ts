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
import { tf, type Tensor } from '../../engine/ops.ts';
import { decodeStep } from '../../../model/decoder/decode-step.ts';
import { windowTokens } from '../../../model/decoder/windows.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import { drawTokens, cumulateByBlocks } from '../draw-tokens.ts';
import { tokensAtOnce } from './step-sizes.ts';
import { decodeSteps } from '../../../model/decoder/decode-steps.ts';
import { chunkStep } from '../../../model/decoder/chunk-step.ts';
import { sequenceInputs } from '../../../model/decoder/decoder.ts';
import { prefill } from '../../../model/decoder/prefill.ts';
import { allSpecs } from '../../../model/adapters/adapter.ts';
import { inputSpec } from '../../../model/config/parameters.ts';

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

/** Feeds one token to one row and draws what follows it. Bit for bit the result of a step of several rows if `canBeAlone`. */
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

/** What says which tokens are fed and where they stand. */
const placeSpecs = (
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
