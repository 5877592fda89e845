import type { OptimStepOptions } from '../../../agent_rl/core/services/learner.ts';
import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import type { Engine, TensorData } from '../../../agent_rl/engine/engine.ts';
import { AdamwState } from '../../../agent_rl/learner/adamw/adamw-state.ts';
import { kindOf, sizesOf } from '../../../agent_rl/learner/batch-shape.ts';
import {
  compileTrainProgram,
  gradientPrefix,
  noRecompute,
  rowsAtOnce,
} from '../../../agent_rl/learner/train-program.ts';
import { seenByAllBehind } from '../../../model/decoder/decoder.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';
import {
  initialParameters,
  parameterCount,
  parameterSpecs,
} from '../../../model/config/parameters.ts';
import { ropeTablesUpTo } from '../../../model/decoder/rope.ts';
import type { BatchSize } from '../bench-model.ts';
import { peakRssBytes } from '../bench-run.ts';
import { median, timed } from '../statistics.ts';

export interface TrainStepResult {
  parameters: number;
  tokens: number;
  /** Seconds of each counted step: forward, backward, clipping and AdamW. */
  seconds: readonly number[];
  medianS: number;
  /** Seconds of the median step's parts. */
  programS: number;
  optimizerS: number;
  tokensPerSecond: number;
  /** 6 x parameters x tokens / time. */
  gflops: number;
  peakRssBytes: number;
  /** Losses of the first and the last step: the batch is always the same, so the loss must fall. */
  losses: readonly [first: number, last: number];
}

const optimOptions: OptimStepOptions = {
  learningRate: 3e-4,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0.1,
  maxGradNorm: 1,
};

/** A training step with its batch: cross entropy on every token but the last of each sequence. */
export async function openTrainStep(engine: Engine, config: ModelConfig, size: BatchSize) {
  const [loss, memory] = [{ name: 'cross_entropy' } as const, noRecompute];
  const shape = { ...size, trained: size.sequences * size.length };
  const kind = kindOf(shape, rowsAtOnce(memory, config));
  const program = await compileTrainProgram(engine, config, { kind, loss, memory });
  const parameters = initialParameters(config, new KeyedRng(1, 'bench'));
  const matrices = parameterSpecs(config).filter((spec) => spec.shape.length > 1);
  const optimizer = new AdamwState(parameters, new Set(matrices.map(({ name }) => name)));
  const feeds = { ...Object.fromEntries(parameters), ...batchOf(config, size) };
  return {
    /** Loss of the batch, and its gradient by parameter. */
    gradients: async () => {
      const outputs = await program.run(feeds, { sizes: sizesOf(shape, kind) });
      const gradients = [...parameters.keys()].map(
        (name) => [name, outputs[`${gradientPrefix}${name}`] as Float32Array] as const,
      );
      return { loss: outputs['loss']?.[0] ?? Number.NaN, gradients: new Map(gradients) };
    },
    /** Clipping and AdamW. */
    update: (gradients: ReadonlyMap<string, Float32Array>) => {
      for (const [name, values] of gradients) optimizer.accumulate(name, values);
      optimizer.step(optimOptions);
    },
    close: () => program.dispose(),
  };
}

/** Random tokens; the last of a sequence predicts nothing and has weight 0. */
function batchOf(
  config: ModelConfig,
  { sequences, length }: BatchSize,
): Record<string, TensorData> {
  const random = new KeyedRng(2, 'bench');
  const count = sequences * length;
  const tokens = Int32Array.from({ length: count }, () => random.integer(config.vocabSize));
  const rope = ropeTablesUpTo(config, length);
  const last = (row: number): boolean => row % length === length - 1;
  const weight = 1 / (count - sequences);
  return {
    tokens,
    rows: Int32Array.from({ length: count }, (_, row) => row),
    targets: tokens.map((_, row) => (last(row) ? 0 : (tokens[row + 1] ?? 0))),
    weights: Float32Array.from({ length: count }, (_, row) => (last(row) ? 0 : weight)),
    cos: rope.cos,
    sin: rope.sin,
    seenUpTo: seenByAllBehind(length),
  };
}

/** Times whole steps: forward, backward, clipping by global norm, AdamW. Two that are not counted come first. */
export async function measureTrainStep(
  engine: Engine,
  config: ModelConfig,
  { repeats, ...size }: BatchSize & { repeats: number },
): Promise<TrainStepResult> {
  const step = await openTrainStep(engine, config, size);
  const losses: number[] = [];
  const programS: number[] = [];
  const optimizerS: number[] = [];
  const seconds = await timed(
    async () => {
      const started = performance.now();
      const { loss, gradients } = await step.gradients();
      const between = performance.now();
      step.update(gradients);
      losses.push(loss);
      programS.push((between - started) / 1000);
      optimizerS.push((performance.now() - between) / 1000);
    },
    { repeats, warmUp: 2 },
  );
  await step.close();
  const medianS = median(seconds);
  const parameters = parameterCount(config);
  const tokens = size.sequences * size.length;
  return {
    parameters,
    tokens,
    seconds,
    medianS,
    programS: median(programS.slice(-repeats)),
    optimizerS: median(optimizerS.slice(-repeats)),
    tokensPerSecond: tokens / medianS,
    gflops: (6 * parameters * tokens) / medianS / 1e9,
    peakRssBytes: peakRssBytes(),
    losses: [losses[0]!, losses.at(-1)!],
  };
}
