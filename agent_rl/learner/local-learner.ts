import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { packMicroBatches } from '../algorithms/pack-micro-batches.ts';
import { AgentRlError } from '../core/errors.ts';
import type {
  Learner,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
  TrainDatum,
} from '../core/learner.ts';
import type { Engine, Program, TensorData } from '../engine/engine.ts';
import { ProgramCache } from '../engine/program-cache.ts';
import { causalMask } from '../../model/decoder.ts';
import type { ModelConfig } from '../../model/model-config.ts';
import { parameterSpecs } from '../../model/parameters.ts';
import { ropeTablesUpTo, type RopeTables } from '../../model/rope.ts';
import { weightsSha256 } from '../../model/weights-sha256.ts';
import { AdamwState, type Parameters } from './adamw-state.ts';
import { readLearnerState, writeLearnerState } from './learner-state.ts';
import { byDatum, paddedLength, trainBatch, type TrainBatch } from './train-batch.ts';
import {
  compileScoreProgram,
  compileTrainProgram,
  gradientPrefix,
  sumPrefix,
  usesReference,
} from './train-program.ts';

export interface LocalLearnerOptions {
  /** Tokens of one micro-batch, padding counted; bounds the memory of activations. */
  readonly microBatchTokens: number;
  /** Hands the current weights to whatever generates with them. */
  readonly publish: (parameters: Parameters, version: number) => Promise<void>;
}

const programsKept = 24;

/**
 * Learning on the local engine.
 *
 * Weights, moments and gradient sums live in JavaScript and are program inputs, which the binding passes without
 * copying; programs are compiled once per padded shape. The weights are updated in place.
 */
export class LocalLearner implements Learner {
  readonly #programs = new ProgramCache(programsKept);
  readonly #optimizer: AdamwState;
  readonly #rope: RopeTables;
  readonly #feeds: Record<string, TensorData>;
  #reference: Record<string, TensorData> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly config: ModelConfig,
    private readonly parameters: Parameters,
    private readonly options: LocalLearnerOptions,
  ) {
    const matrices = parameterSpecs(config).filter(({ shape }) => shape.length > 1);
    this.#optimizer = new AdamwState(parameters, new Set(matrices.map(({ name }) => name)));
    this.#feeds = Object.fromEntries(parameters);
    // A sequence as long as the model allows is padded beyond that; what stands there is hidden by the mask.
    this.#rope = ropeTablesUpTo(config, paddedLength(config.maxPositions));
  }

  /** Keeps a copy of the current weights as the frozen reference of KL terms. */
  freezeReference(): void {
    this.#reference = Object.fromEntries(
      [...this.parameters].map(([name, values]) => [name, Float32Array.from(values)]),
    );
  }

  async forward(
    tokens: readonly Int32Array[],
    {
      temperature,
      which,
    }: { readonly temperature: number; readonly which: 'policy' | 'reference' },
  ): Promise<readonly Float32Array[]> {
    const feeds = which === 'policy' ? this.#feeds : this.#reference;
    if (feeds === undefined) {
      throw new AgentRlError(
        'MODEL_INVALID',
        'Log-probabilities of the reference were asked for, but no reference was frozen. Freeze one before training.',
      );
    }
    const data = tokens.map(allTrained);
    const result: Float32Array[] = data.map(() => new Float32Array());
    for (const indices of this.#pack(data)) {
      const part = indices.map((index) => data[index] as TrainDatum);
      const batch = trainBatch(part, this.options.microBatchTokens);
      const program = await this.#programs.get(`score ${shapeKey(batch)} ${temperature}`, () =>
        compileScoreProgram(this.engine, this.config, batch.shape, temperature),
      );
      const outputs = await program.run({ ...feeds, ...this.#inputs(batch) });
      for (const [i, values] of byDatum(
        outputs['logProbs'] as Float32Array,
        batch,
        part,
      ).entries()) {
        result[indices[i] as number] = values;
      }
    }
    return result;
  }

  async forwardBackward(data: readonly TrainDatum[], loss: LossSpec): Promise<LossMetrics> {
    const logProbs: Float32Array[] = data.map(({ tokens }) => new Float32Array(tokens.length));
    const sums: Record<string, number> = {};
    let total = 0;
    for (const indices of this.#pack(data)) {
      const part = indices.map((index) => data[index] as TrainDatum);
      const batch = trainBatch(part, this.options.microBatchTokens);
      if (batch.origins.length === 0) continue;
      const outputs = await (
        await this.#trainProgram(batch, loss)
      ).run({
        ...this.#feeds,
        ...this.#inputs(batch),
        ...lossInputs(batch, loss),
      });
      for (const [i, values] of byDatum(
        outputs['logProbs'] as Float32Array,
        batch,
        part,
      ).entries()) {
        logProbs[indices[i] as number] = values;
      }
      total += outputs['loss']?.[0] ?? Number.NaN;
      for (const [name, values] of Object.entries(outputs)) {
        if (name.startsWith(gradientPrefix)) {
          this.#optimizer.accumulate(name.slice(gradientPrefix.length), values as Float32Array);
        } else if (name.startsWith(sumPrefix)) {
          const key = name.slice(sumPrefix.length);
          sums[key] = (sums[key] ?? 0) + (values[0] ?? Number.NaN);
        }
      }
    }
    return { loss: total, sums, logProbs };
  }

  async optimStep(options: OptimStepOptions): Promise<OptimStepMetrics> {
    return this.#optimizer.step(options);
  }

  /** The accumulated gradient of one parameter; for checks. */
  gradientOf(name: string): Float32Array | undefined {
    return this.#optimizer.gradientOf(name);
  }

  async saveState(folder: string): Promise<{ readonly weightsSha256: string }> {
    await mkdir(folder, { recursive: true });
    await writeLearnerState(folder, this.config, {
      parameters: this.parameters,
      optimizer: this.#optimizer,
    });
    return { weightsSha256: weightsSha256(this.parameters) };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID`, `MODEL_INVALID` when the folder does not fit this model. */
  async loadState(folder: string): Promise<void> {
    await readLearnerState(join(folder), this.config, {
      parameters: this.parameters,
      optimizer: this.#optimizer,
    });
  }

  async publishWeights(): Promise<number> {
    // Counted by steps and not by calls, so that a run that is resumed goes on with the same versions.
    const version = this.#optimizer.steps;
    await this.options.publish(this.parameters, version);
    return version;
  }

  async close(): Promise<void> {
    await this.#programs.clear();
  }

  #pack(data: readonly TrainDatum[]): number[][] {
    const lengths = data.map(({ tokens }) => tokens.length);
    const longest = Math.max(0, ...lengths);
    if (longest > this.config.maxPositions) {
      throw new AgentRlError(
        'SHAPE_MISMATCH',
        `A sequence of ${longest} tokens is longer than the model's ${this.config.maxPositions} positions. Lower rollout.maxEpisodeTokens.`,
      );
    }
    return packMicroBatches(lengths, this.options.microBatchTokens, paddedLength);
  }

  #trainProgram(batch: TrainBatch, loss: LossSpec): Promise<Program> {
    return this.#programs.get(`train ${shapeKey(batch)} ${JSON.stringify(loss)}`, () =>
      compileTrainProgram(this.engine, this.config, batch.shape, loss),
    );
  }

  #inputs({ tokens, rows, targets, shape: { length } }: TrainBatch): Record<string, TensorData> {
    const size = length * this.config.headDim;
    return {
      tokens,
      rows,
      targets,
      cos: this.#rope.cos.subarray(0, size),
      sin: this.#rope.sin.subarray(0, size),
      mask: causalMask(length),
    };
  }
}

const shapeKey = ({ shape: { sequences, length, trained } }: TrainBatch): string =>
  `${sequences} x ${length}, ${trained}`;

function lossInputs(batch: TrainBatch, loss: LossSpec): Record<string, TensorData> {
  const { weights, advantages, oldLogProbs, refLogProbs } = batch;
  if (loss.name === 'cross_entropy') return { weights };
  return { weights, advantages, oldLogProbs, ...(usesReference(loss) && { refLogProbs }) };
}

/** Every token but the first, which nothing predicts. */
function allTrained(tokens: Int32Array): TrainDatum {
  const weights = new Float32Array(tokens.length).fill(1, 1);
  const zeros = new Float32Array(tokens.length);
  return { tokens, weights, advantages: zeros, oldLogProbs: zeros };
}
