import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import { type Batch, requireSchema, type TrainDatum } from '../../core/services/batch.ts';
import type {
  ForwardOptions,
  Learner,
  LearnerInfo,
  LossMetrics,
  LossSpec,
  OptimStepMetrics,
  OptimStepOptions,
} from '../../core/services/learner.ts';
import type { WeightRef, WeightTarget } from '../../core/services/weights.ts';
import { countParameters } from '../../../model/adapters/adapter.ts';
import { writeAdapter } from '../../../model/adapters/adapter-files.ts';
import type { Adapter, ModelConfig } from '../../../model/config/architecture.ts';
import { weightsSha256 } from '../../../model/weights/weights-sha256.ts';
import { Lost } from '../../tinker/tinker-client.ts';
import type { TinkerSession } from '../../tinker/tinker-session.ts';
import { adapterIn } from './adapter-archive.ts';
import { gradNormOf } from './trained-model.ts';
import { lossMeasure, refused, serviceLoss } from './service-loss.ts';
import type { RecoveringModel } from './recovering-model.ts';
import { byToken, type Reduction, serviceBatches } from './service-data.ts';

export interface TinkerLearnerOptions {
  session: TinkerSession;
  model: RecoveringModel;
  /** With the adapter, the last. */
  config: ModelConfig;
  adapter: Adapter;
  /** Where the model under it is. */
  baseModel: string;
  reduction: Reduction;
  microBatchTokens: number;
  pads: boolean;
  /** A model whose adapter changes nothing, made when it is first asked for. */
  openReference: () => Promise<RecoveringModel>;
}

/** What of a checkpoint is at the service. */
const stateFile = 'tinker.json';
/** Largest difference of a loss that the service computed from our own definition of it, as a share. */
const lossTolerance = 1e-3;

/** Learning at a Tinker service, which holds the weights, an adapter's, and the optimiser's state. */
export class TinkerLearner implements Learner {
  #steps = 0;
  /** What was added up since the last step, where a mean is taken over all of it. */
  #added: readonly TrainDatum[] = [];
  #reference: Promise<RecoveringModel> | undefined;
  /** Weights that generators draw from: forgotten when a later version is drawn from. */
  #published: (() => void)[] = [];

  constructor(private readonly options: TinkerLearnerOptions) {}

  async describe(): Promise<LearnerInfo> {
    const { session, config } = this.options;
    return {
      name: `tinker at ${session.client.url}`,
      ...countParameters(config),
      publishes: ['service', 'folder'],
      service: session.client.url,
    };
  }

  async forward(
    tokens: readonly Int32Array[],
    { temperature, which, wanted }: ForwardOptions,
  ): Promise<readonly Float32Array[]> {
    if (temperature !== 1) throw refused(`A temperature of ${temperature}`, 'set it to 1');
    const model = which === 'policy' ? this.options.model : await this.#frozen();
    const data = tokens.map((one): TrainDatum => {
      const zeros = new Float32Array(one.length);
      return { tokens: one, weights: zeros, advantages: zeros, oldLogProbs: zeros };
    });
    const result: Float32Array[] = [];
    for (const batch of this.#batches(data).batches) {
      const loss = serviceLoss({ name: 'cross_entropy' });
      const { perDatum } = await model.pass({ data: batch.data, loss, forwardOnly: true });
      for (const [i, row] of byToken(perDatum.get('logprobs')!, batch, data).entries()) {
        const index = batch.indices[i]!;
        const only = wanted?.[index];
        result[index] = only ? row.map((value, place) => (only[place] ? value : 0)) : row;
      }
    }
    this.#requireFinite(result);
    return result;
  }

  async forwardBackward(batch: Batch, loss: LossSpec): Promise<LossMetrics> {
    requireSchema(batch);
    const { model, reduction } = this.options;
    const before = this.#added.length;
    if (reduction === 'sequence-mean' && before > 0) {
      // The factors that undo a mean depend on how many there are: all are sent again.
      await model.discard();
      const { logProbs, ...all } = await this.#learn([...this.#added, ...batch.data], loss);
      return { ...all, logProbs: logProbs.slice(before) };
    }
    return this.#learn(batch.data, loss);
  }

  async #learn(data: readonly TrainDatum[], spec: LossSpec): Promise<LossMetrics> {
    const { model } = this.options;
    const loss = serviceLoss(spec);
    const measure = await lossMeasure(spec);
    const logProbs: Float32Array[] = [];
    const sums: Record<string, number> = {};
    let total = 0;
    const { batches, computedTokens } = this.#batches(
      spec.name === 'policy' ? data : data.map(withoutAdvantages),
    );
    for (const batch of batches) {
      const { perDatum } = await model.pass({ data: batch.data, loss });
      const losses = perDatum.get('elementwise_loss');
      for (const [i, row] of byToken(perDatum.get('logprobs')!, batch, data).entries()) {
        const index = batch.indices[i]!;
        const datum = data[index]!;
        const own = row.map((value, place) => (datum.weights[place] === 0 ? 0 : value));
        this.#requireFinite([own]);
        const measured = measure(datum, own);
        if (losses !== undefined)
          this.#requireLoss(losses[i]!, measured.weighted, batch.factors[i]!);
        logProbs[index] = own;
        total += measured.loss;
        for (const [name, value] of Object.entries(measured.sums))
          sums[name] = (sums[name] ?? 0) + value;
      }
    }
    this.#added = data;
    return { loss: total, sums, logProbs, microBatches: batches.length, computedTokens };
  }

  async discardGradients(): Promise<void> {
    this.#added = [];
    await this.options.model.discard();
  }

  async optimStep(step: OptimStepOptions): Promise<OptimStepMetrics> {
    if (step.maxGradNorm !== Infinity) throw refusedClipping(step.maxGradNorm);
    const metrics = await this.options.model.optimStep(step);
    this.#added = [];
    this.#steps += 1;
    const gradNorm = gradNormOf(metrics);
    return gradNorm === undefined ? {} : { gradNorm };
  }

  /** Writes the adapter, as it is downloaded, and the address of the whole state, which stays at the service. */
  async saveState(folder: string): Promise<{ weightsSha256: string }> {
    const { session, model } = this.options;
    const state = await model.keep();
    const sha = await this.#writeAdapter(folder);
    const { url } = session.client;
    const json = { url, model: session.baseModel, state, steps: this.#steps };
    await writeFile(join(folder, stateFile), `${JSON.stringify(json, null, 1)}\n`);
    return { weightsSha256: sha };
  }

  /** @throws AgentRlError `CHECKPOINT_INVALID` for a folder of another learner, or a state that is not at the service any more */
  async loadState(folder: string): Promise<void> {
    const { state, steps } = await readState(folder);
    try {
      await this.options.model.load(state, steps);
    } catch (cause) {
      throw new AgentRlError(
        'CHECKPOINT_INVALID',
        `The service does not have the state ${state} of ${folder}: ${messageOf(cause)} Resume with the service that has it; the adapter in the folder holds only weights, no optimiser state.`,
        { cause },
      );
    }
    this.#added = [];
    this.#steps = steps;
  }

  async exportWeights(target: WeightTarget): Promise<WeightRef> {
    const version = this.#steps;
    if (target.kind === 'memory')
      throw new AgentRlError(
        'CONFIG_INVALID',
        'Weights cannot be published in memory, because no generator shares the memory of a Tinker service.',
      );
    if (target.kind === 'folder') {
      await this.#writeAdapter(target.folder);
      return { version, kind: 'folder', location: target.folder };
    }
    const { model, name, address } = await this.options.model.saveForSampler();
    this.#published.push(() => model.forget('sampler_weights', name));
    // The one before is drawn from until this one is used.
    if (this.#published.length > 2) this.#published.shift()?.();
    return { version, kind: 'service', location: address };
  }

  async close(): Promise<void> {
    const { model, session } = this.options;
    await model.close();
    if (this.#reference !== undefined) await (await this.#reference).close();
    await session.close();
  }

  /** @returns SHA-256 of the tensors */
  async #writeAdapter(folder: string): Promise<string> {
    const { config, adapter, baseModel } = this.options;
    const parameters = await this.#download();
    await writeAdapter(folder, config, { adapter, parameters, baseModel });
    return weightsSha256(parameters);
  }

  async #download(): Promise<Map<string, Float32Array>> {
    const { model: recovering, session, config, adapter } = this.options;
    const { model, name } = await recovering.saveForSampler();
    try {
      return await adapterIn(await model.archive(name), config, adapter);
    } catch (cause) {
      if (AgentRlError.is(cause) && cause.code === 'LEARNING_FAILED') throw cause;
      const problem = cause instanceof Lost ? 'does not return' : 'returned an invalid archive of';
      throw session.client.failure(`${problem} the adapter ${name}: ${messageOf(cause)}`, cause);
    } finally {
      model.forget('sampler_weights', name);
    }
  }

  #frozen(): Promise<RecoveringModel> {
    return (this.#reference ??= this.options.openReference());
  }

  #batches(data: readonly TrainDatum[]) {
    const { microBatchTokens, reduction, pads } = this.options;
    return serviceBatches(data, { microBatchTokens, reduction, pads });
  }

  #requireFinite(rows: readonly Float32Array[]): void {
    for (const [index, row] of rows.entries()) {
      const place = row.findIndex((value) => !Number.isFinite(value) || value > 1e-3);
      if (place >= 0)
        throw this.options.session.client.failure(
          `returned ${row[place]} as the log-probability of token ${place} of sequence ${index}`,
        );
    }
  }

  /** The service minimises what we think it does. */
  #requireLoss(theirs: Float32Array, ours: readonly number[], factor: number): void {
    for (const [place, value] of ours.entries()) {
      if (value === 0) continue;
      const expected = factor * value;
      const got = theirs[place - 1] ?? Number.NaN;
      if (Math.abs(got - expected) <= lossTolerance * Math.max(Math.abs(expected), factor * 1e-6))
        continue;
      throw this.options.session.client.failure(
        `minimises a different loss than this run: its loss of token ${place} is ${got}, expected ${expected}`,
      );
    }
  }
}

/** A likelihood has none. */
const withoutAdvantages = (datum: TrainDatum): TrainDatum => ({
  ...datum,
  advantages: new Float32Array(datum.tokens.length).fill(1),
});

export const refusedClipping = (norm: number): AgentRlError =>
  refused(
    `train.maxGradNorm ${norm}`,
    'the service might not clip gradients. Set train.maxGradNorm to 0',
  );

async function readState(folder: string): Promise<{ state: string; steps: number }> {
  const file = join(folder, stateFile);
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${file} cannot be read (${messageOf(cause)}). Resume with the learner that the run started with.`,
      { cause },
    );
  }
  const { state, steps } = isRecord(json) ? json : {};
  if (typeof state === 'string' && Number.isInteger(steps)) return { state, steps: Number(steps) };
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `${file} must name a state and a number of steps. Resume from another checkpoint.`,
  );
}
