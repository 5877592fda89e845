import type { OptimStepOptions } from '../../agent_rl/core/services/learner.ts';
import { KeyedRng } from '../../agent_rl/core/keyed-rng.ts';
import type { Engine, Program, TensorData } from '../../agent_rl/engine/engine.ts';
import { AdamwState } from '../../agent_rl/learner/adamw-state.ts';
import {
  compileTrainProgram,
  gradientPrefix,
  noRecompute,
} from '../../agent_rl/learner/train-program.ts';
import { causalMask } from '../../model/decoder/decoder.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import {
  initialParameters,
  parameterCount,
  parameterSpecs,
} from '../../model/config/parameters.ts';
import { ropeTablesUpTo } from '../../model/decoder/rope.ts';
import type { BatchSize } from './bench-model.ts';
import { median } from './statistics.ts';

export interface TrainStepResult {
  parameters: number;
  tokens: number;
  /** Of each counted step: forward, backward, clipping and AdamW. */
  seconds: readonly number[];
  medianS: number;
  /** Of the median step's parts. */
  programS: number;
  optimizerS: number;
  tokensPerSecond: number;
  /** 6 x parameters x tokens / time. */
  gflops: number;
  peakRssBytes: number;
  /** Of the first and the last step: the same batch again and again, so it must fall. */
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
export class TrainStep {
  readonly parameters: Map<string, Float32Array>;
  readonly #optimizer: AdamwState;
  readonly #feeds: Record<string, TensorData>;

  private constructor(
    private readonly program: Program,
    config: ModelConfig,
    size: BatchSize,
  ) {
    this.parameters = initialParameters(config, new KeyedRng(1, 'bench'));
    const matrices = parameterSpecs(config).filter(({ shape }) => shape.length > 1);
    this.#optimizer = new AdamwState(this.parameters, new Set(matrices.map(({ name }) => name)));
    this.#feeds = { ...Object.fromEntries(this.parameters), ...batchOf(config, size) };
  }

  static async open(engine: Engine, config: ModelConfig, size: BatchSize): Promise<TrainStep> {
    const shape = { ...size, trained: size.sequences * size.length };
    const program = await compileTrainProgram(engine, config, {
      shape,
      loss: { name: 'cross_entropy' },
      memory: noRecompute,
    });
    return new TrainStep(program, config, size);
  }

  /** Adds the batch's gradient to what is accumulated; returns the loss. */
  async gradients(): Promise<number> {
    const outputs = await this.program.run(this.#feeds);
    for (const [name, values] of Object.entries(outputs)) {
      if (!name.startsWith(gradientPrefix)) continue;
      this.#optimizer.accumulate(name.slice(gradientPrefix.length), values as Float32Array);
    }
    return outputs['loss']?.[0] ?? Number.NaN;
  }

  /** The batch's gradient by parameter, accumulated nowhere. */
  async freshGradients(): Promise<{ loss: number; gradients: Map<string, Float32Array> }> {
    const outputs = await this.program.run(this.#feeds);
    const gradients = [...this.parameters.keys()].map(
      (name) => [name, outputs[`${gradientPrefix}${name}`] as Float32Array] as const,
    );
    return { loss: outputs['loss']?.[0] ?? Number.NaN, gradients: new Map(gradients) };
  }

  update(): void {
    this.#optimizer.step(optimOptions);
  }

  async close(): Promise<void> {
    await this.program.dispose();
  }
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
    mask: causalMask(length),
  };
}

/** Times whole steps: forward, backward, clipping by global norm, AdamW. */
export async function measureTrainStep(
  engine: Engine,
  config: ModelConfig,
  { repeats, ...size }: BatchSize & { repeats: number },
): Promise<TrainStepResult> {
  const step = await TrainStep.open(engine, config, size);
  const warmUp = 2;
  const parts: { total: number; program: number; optimizer: number }[] = [];
  const losses: number[] = [];
  for (let i = -warmUp; i < repeats; i++) {
    const started = performance.now();
    losses.push(await step.gradients());
    const between = performance.now();
    step.update();
    const ended = performance.now();
    const [total, program, optimizer] = [ended - started, between - started, ended - between];
    if (i >= 0) parts.push({ total, program, optimizer });
  }
  await step.close();
  const seconds = parts.map(({ total }) => total / 1000);
  const medianS = median(seconds);
  const parameters = parameterCount(config);
  const tokens = size.sequences * size.length;
  return {
    parameters,
    tokens,
    seconds,
    medianS,
    programS: median(parts.map(({ program }) => program)) / 1000,
    optimizerS: median(parts.map(({ optimizer }) => optimizer)) / 1000,
    tokensPerSecond: tokens / medianS,
    gflops: (6 * parameters * tokens) / medianS / 1e9,
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    losses: [losses[0]!, losses.at(-1)!],
  };
}
