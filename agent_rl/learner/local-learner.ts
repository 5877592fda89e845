import { mkdir } from 'node:fs/promises';

import { findLoss } from '../algorithms/losses/find-loss.ts';
import { AgentRlError } from '../core/errors.ts';
import { type Batch, requireSchema, type TrainDatum } from '../core/services/batch.ts';
import type {
  ForwardOptions,
  LearnerInfo,
  ListingLearner,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
  TopScores,
} from '../core/services/learner.ts';
import type { WeightRef, WeightTarget } from '../core/services/weights.ts';
import type { Engine, SizedProgram, TensorData } from '../engine/engine.ts';
import { ProgramCache } from '../engine/program-cache.ts';
import { seenByAllBehind } from '../../model/decoder/decoder.ts';
import type { ModelConfig } from '../../model/config/architecture.ts';
import {
  allSpecs,
  byTraining,
  countParameters,
  requireTrainable,
  trainedAdapter,
  trainedSpecs,
  withoutTrainedAdapter,
} from '../../model/adapters/adapter.ts';
import { ropeTablesUpTo, type RopeTables } from '../../model/decoder/rope.ts';
import type { Weights } from '../../model/config/parameters.ts';
import { weightsSha256 } from '../../model/weights/weights-sha256.ts';
import { kindOf, sizesOf } from './batch-shape.ts';
import {
  scoredDatum,
  byDatum,
  membershipOf,
  trainBatch,
  type ProgramMemory,
  type TrainBatch,
} from './train-batch.ts';
import { type Adapted, adaptedBy, type AdapterOrigin } from './adapted-by.ts';
import { AdamwState, type Parameters } from './adamw/adamw-state.ts';
import { microBatches, type MicroBatch } from './micro-batches.ts';
import { readLearnerState, readTrained, writeLearnerState, writeTrained } from './learner-state.ts';
import {
  compileScoreProgram,
  compileTrainProgram,
  distilled,
  gradientPrefix,
  lossInputs,
  membershipInput,
  noRecompute,
  rowsAtOnce,
  sumPrefix,
} from './train-program.ts';
import { dropoutInputs } from './dropout-inputs.ts';
import { requireTop, teacherColumns, topScores } from './top-columns.ts';
import { largest } from '../core/long-lists.ts';

export interface LocalLearnerOptions {
  /** Tokens of one micro-batch, padding counted; bounds the memory of activations. */
  microBatchTokens: number;
  /** Layers kept whole and 256 MiB of logits by default. */
  memory?: ProgramMemory;
  /** Whether sequences that begin alike are computed together where that saves work, by default, or each by itself. */
  prefixTrees?: boolean;
  /** Needed where an adapter is trained. */
  adapter?: AdapterOrigin;
  /** Whether it will be trained, by default; else it only computes log-probabilities, and programs may hold all weights. */
  trains?: boolean | undefined;
  /** Whether it keeps a copy of the weights that it published last, to score with while it learns on. */
  keepsPublished?: boolean | undefined;
  /** Keeps weights for the generators that share this memory; without it they are published as files alone. */
  publish?: (weights: Weights, version: number) => WeightRef;
}

const programsKept = 24;
/** The same, where each holds weights. */
const programsHeld = 8;

type Feeds = Readonly<Record<string, Float32Array | Uint8Array>>;

type Scored = Omit<ForwardOptions, 'wanted'> & { topK?: number };

/**
 * Learning on the local engine.
 *
 * Weights, moments and gradient sums live in JavaScript and are program inputs, which the binding passes without
 * copying; one program serves all micro-batches of a kind. What is trained is updated in place: the whole model, or its
 * last adapter, under which the frozen rest is the reference and needs no copy. Where runs copy their inputs, programs hold that
 * rest.
 */
export class LocalLearner implements ListingLearner {
  readonly #programs: ProgramCache<SizedProgram>;
  readonly #optimizer: AdamwState;
  readonly #trained: Parameters;
  readonly #feeds: Feeds;
  /** Of these, what programs hold, and what they are given. */
  readonly #held: Feeds;
  readonly #given: Feeds;
  readonly #memory: ProgramMemory;
  readonly #adapted: Adapted | undefined;
  #rope: RopeTables = { cos: new Float32Array(), sin: new Float32Array() };
  /** Those whose log-probabilities can be asked for. */
  readonly #models: { policy: Reference; reference?: Reference };
  /** By version, the newest last: of adapters two, which a generator may sample from at the same time. */
  readonly #published = new Map<number, Reference>();
  #changes = 0;

  constructor(
    private readonly engine: Engine,
    private readonly config: ModelConfig,
    parameters: Weights,
    private readonly options: LocalLearnerOptions,
  ) {
    this.#adapted = adaptedBy(config, options.adapter);
    this.#memory = options.memory ?? noRecompute;
    const specs = trainedSpecs(config);
    this.#trained = new Map(specs.map(({ name }) => [name, required(parameters, name)]));
    const matrices = specs.filter(({ shape }) => shape.length > 1).map(({ name }) => name);
    this.#optimizer = new AdamwState(this.#trained, new Set(matrices));
    this.#feeds = Object.fromEntries(parameters);
    const { trained, frozen } = byTraining(config, parameters, options.trains);
    [this.#held, this.#given] = engine.copiesInputs ? [frozen, trained] : [{}, this.#feeds];
    this.#models = { policy: { config, given: this.#given } };
    const holds = Object.keys(this.#held).length > 0;
    this.#programs = new ProgramCache(holds ? programsHeld : programsKept);
  }

  /** Keeps the current weights as the frozen reference of KL terms: a copy, or the model under the adapter. */
  freezeReference(): void {
    if (trainedAdapter(this.config) !== undefined) {
      const under = withoutTrainedAdapter(this.config);
      const names = allSpecs(under).map(({ name }) => name);
      const given = names.filter((name) => Object.hasOwn(this.#given, name));
      this.#models.reference = { config: under, given: pick(this.#given, given) };
      return;
    }
    requireTrainable(this.config);
    this.#models.reference = this.#copy();
  }

  async forward(
    tokens: readonly Int32Array[],
    options: ForwardOptions,
  ): Promise<readonly Float32Array[]> {
    const scores = await this.forwardTop(tokens, { ...options, topK: 0 });
    return scores.map(({ logProbs }) => logProbs);
  }

  /** @throws AgentRlError `CONFIG_INVALID` for more likeliest tokens than there are */
  async forwardTop(
    tokens: readonly Int32Array[],
    { wanted, ...options }: ForwardOptions & { topK: number },
  ): Promise<readonly TopScores[]> {
    const { topK } = options;
    requireTop(topK, this.config);
    const data = tokens.map((sequence, index) => scoredDatum(sequence, wanted?.[index]));
    const result: TopScores[] = [];
    for (const pack of this.#pack(data)) {
      const { indices } = pack;
      const part = indices.map((index) => data[index] as TrainDatum);
      const batch = this.#batchOf(pack);
      const outputs = await this.#score(batch, options);
      for (const [i, scores] of topScores(outputs, batch, { data: part, topK }).entries())
        result[indices[i] as number] = scores;
    }
    return result;
  }

  async describe(): Promise<LearnerInfo> {
    return {
      name: `engine on ${this.engine.device}`,
      ...countParameters(this.config),
      publishes: this.options.publish === undefined ? ['folder'] : ['memory', 'folder'],
    };
  }

  async forwardBackward(batch: Batch, loss: LossSpec): Promise<LossMetrics> {
    requireSchema(batch);
    requireTrainable(this.config);
    const { data } = batch;
    const logProbs: Float32Array[] = data.map(({ tokens }) => new Float32Array(tokens.length));
    const sums: Record<string, number> = {};
    let total = 0;
    const perSequence = loss.name === 'policy' && (await findLoss(loss)).spec.perSequence === true;
    const packs = this.#pack(data);
    let computed = 0;
    for (const pack of packs) {
      const { indices } = pack;
      const part = indices.map((index) => data[index] as TrainDatum);
      const packed = this.#batchOf(pack);
      computed += packed.tokens.length;
      if (packed.origins.length === 0) continue;
      const dropout = dropoutInputs(packed, part, {
        config: this.config,
        seed: this.#adapted?.seed ?? 0,
        steps: this.#optimizer.steps,
      });
      const memory = this.#memory;
      const kind = kindOf(packed.shape, rowsAtOnce(memory, this.config, loss));
      const program = await this.#programs.get(`train ${JSON.stringify([kind, loss])}`, () =>
        compileTrainProgram(this.engine, this.config, { kind, loss, memory, held: this.#held }),
      );
      const inputs = {
        ...this.#given,
        ...dropout,
        ...this.#inputs(packed),
        ...pick(packed, lossInputs(loss)),
        ...(perSequence ? { [membershipInput]: membershipOf(packed) } : {}),
        ...teacherColumns(packed, part, distilled(loss)),
      };
      const outputs = await program.run(inputs, { sizes: sizesOf(packed.shape, kind) });
      // What was dropped is not part of the policy: its own log-probabilities are computed separately.
      const temperature = loss.name === 'policy' ? loss.temperature : 1;
      const own =
        Object.keys(dropout).length === 0
          ? outputs
          : await this.#score(packed, { temperature, which: 'policy' });
      for (const [i, values] of byDatum(own['logProbs'] as Float32Array, packed, part).entries()) {
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
    return { loss: total, sums, logProbs, microBatches: packs.length, computedTokens: computed };
  }

  async discardGradients(): Promise<void> {
    this.#optimizer.clearGradients();
  }

  /** How often its weights have changed. */
  get changes(): number {
    return this.#changes;
  }

  async optimStep(options: OptimStepOptions): Promise<OptimStepMetrics> {
    const metrics = this.#optimizer.step(options);
    this.#changes += 1;
    return metrics;
  }

  /** The accumulated gradient of one parameter; for checks. */
  gradientOf(name: string): Float32Array | undefined {
    return this.#optimizer.gradientOf(name);
  }

  /** Of what is trained. */
  async weightsSha256(): Promise<string> {
    return weightsSha256(this.#trained);
  }

  async saveState(folder: string): Promise<{ weightsSha256: string }> {
    await mkdir(folder, { recursive: true });
    const [parameters, optimizer, adapted] = [this.#trained, this.#optimizer, this.#adapted];
    await writeLearnerState(folder, this.config, { parameters, optimizer, adapted });
    return { weightsSha256: await this.weightsSha256() };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID`, `MODEL_INVALID` when the folder does not fit this model. */
  async loadState(folder: string): Promise<void> {
    this.#changes += 1;
    const [parameters, optimizer] = [this.#trained, this.#optimizer];
    await readLearnerState(folder, this.config, { parameters, optimizer });
  }

  /** @throws AgentRlError `CONFIG_INVALID` where nothing shares the memory asked for */
  async exportWeights(target: WeightTarget): Promise<WeightRef> {
    // Counted by steps and not by calls, so that a resumed run continues with the same versions.
    const version = this.#optimizer.steps;
    if (this.options.keepsPublished === true) this.#keep(version, this.#copy());
    if (target.kind === 'folder') {
      const { folder } = target;
      await mkdir(folder, { recursive: true });
      const [parameters, adapted] = [this.#trained, this.#adapted];
      await writeTrained(folder, this.config, { parameters, adapted });
      return { version, kind: 'folder', location: folder };
    }
    const { publish } = this.options;
    if (publish !== undefined) return publish(new Map(Object.entries(this.#feeds)), version);
    throw new AgentRlError(
      'CONFIG_INVALID',
      'Weights cannot be published in memory, because no generator shares the memory of this learner. Publish the weights as files.',
    );
  }

  async keepPublished({ location, version }: WeightRef): Promise<void> {
    this.#keep(version, this.#copy(await readTrained(location, this.config)));
  }

  #keep(version: number, model: Reference): void {
    this.#published.delete(version);
    const [oldest] = this.#published.keys();
    const most = this.#adapted === undefined ? 1 : 2;
    if (oldest !== undefined && this.#published.size === most) this.#published.delete(oldest);
    this.#published.set(version, model);
  }

  #copy(trained = this.#trained): Reference {
    const copies = [...trained].map(([name, values]) => [name, Float32Array.from(values)]);
    return { config: this.config, given: { ...this.#given, ...Object.fromEntries(copies) } };
  }

  async close(): Promise<void> {
    await this.#programs.clear();
  }

  #pack(data: readonly TrainDatum[]): MicroBatch[] {
    const longest = largest(
      data.map(({ tokens }) => tokens.length),
      0,
    );
    if (longest > this.config.maxPositions) {
      throw new AgentRlError(
        'SHAPE_MISMATCH',
        `A sequence of ${longest} tokens is longer than the model's ${this.config.maxPositions} positions. Shorten the episodes (rollout.maxEpisodeTokens) or the demonstrations.`,
      );
    }
    return microBatches(data, {
      microBatchTokens: this.options.microBatchTokens,
      compiles: this.engine.compiles,
      trees: this.#plants,
    });
  }

  /** What dropout drops is keyed by whole sequences, so that with it each has a row of its own. */
  get #plants(): boolean {
    return this.options.prefixTrees !== false && (this.#adapted?.adapter.dropout ?? 0) === 0;
  }

  #batchOf({ rows, hasTrees }: MicroBatch): TrainBatch {
    const { microBatchTokens } = this.options;
    const { compiles } = this.engine;
    const most = rowsAtOnce(this.#memory, this.config);
    return trainBatch(rows, { microBatchTokens, compiles, hasTrees, rowsAtOnce: most });
  }

  async #score(
    batch: TrainBatch,
    { temperature, which, version = Number.NaN, topK = 0 }: Scored,
  ): Promise<Record<string, TensorData>> {
    const model = which === 'published' ? this.#published.get(version) : this.#models[which];
    if (model === undefined) {
      throw new AgentRlError(
        'MODEL_INVALID',
        `Log-probabilities of the ${which} weights were requested, but none were kept. Keep them before training.`,
      );
    }
    const options = { temperature, topK, memory: this.#memory, held: this.#held };
    const kind = kindOf(batch.shape, rowsAtOnce(this.#memory, this.config));
    // A reference of the same layout runs the same program.
    const layout = model.config === this.config ? 'whole' : 'under';
    const key = `score ${layout} ${JSON.stringify(kind)} ${temperature} ${topK}`;
    const program = await this.#programs.get(key, () =>
      compileScoreProgram(this.engine, model.config, { ...options, kind }),
    );
    const inputs = { ...model.given, ...this.#inputs(batch) };
    return program.run(inputs, { sizes: sizesOf(batch.shape, kind) });
  }

  #ropeUpTo(length: number): RopeTables {
    const size = length * this.config.headDim;
    if (this.#rope.cos.length < size) this.#rope = ropeTablesUpTo(this.config, length);
    return { cos: this.#rope.cos.subarray(0, size), sin: this.#rope.sin.subarray(0, size) };
  }

  #inputs({ tokens, rows, targets, trees, shape }: TrainBatch): Record<string, TensorData> {
    const { length } = shape;
    const layout = trees ?? { seenUpTo: seenByAllBehind(length) };
    return { tokens, rows, targets, ...this.#ropeUpTo(length), ...layout };
  }
}

interface Reference {
  config: ModelConfig;
  given: Feeds;
}

function required(parameters: Weights, name: string): Float32Array {
  const values = parameters.get(name);
  if (values instanceof Float32Array) return values;
  throw new AgentRlError('MODEL_INVALID', `The learner received no tensor named "${name}".`);
}

const pick = <All, Name extends keyof All>(all: All, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, all[name]])) as Pick<All, Name>;
