import { isRecord } from '../../core/is-record.ts';
import type { OptimStepOptions } from '../../core/services/learner.ts';
import {
  type Datum,
  type ForwardBackwardOutput,
  forwardBackwardRequest,
  readForwardBackwardOutput,
} from '../../tinker/messages.ts';
import type { TinkerSession } from '../../tinker/tinker-session.ts';
import type { ServiceLoss } from './service-loss.ts';

/** The results of one pass of a model at the service. */
export interface Pass {
  data: readonly Datum[];
  loss: ServiceLoss;
  forwardOnly?: boolean;
}

export interface AdapterAtService {
  rank: number;
  alpha: number;
  /** Layers that have one; true by default. */
  attention: boolean;
  mlp: boolean;
  unembed: boolean;
}

export interface CreateOptions {
  rank: number;
  /** Keys the first values. */
  seed: number;
  /** A state that was saved, to begin with: its address. */
  from?: string | undefined;
}

/** It moves nothing, and clears what was accumulated. */
export const noStep: OptimStepOptions = {
  learningRate: 0,
  beta1: 0.9,
  beta2: 0.99,
  eps: 1e-8,
  weightDecay: 0,
  maxGradNorm: Infinity,
};

/** A model with an adapter that the service trains. Orders have numbers, in the order in which they are given. */
export class TrainedModel {
  #seqId = 0;
  /** Gradients were added since the last step, as far as is known. */
  #hasGradients = false;

  private constructor(
    private readonly session: TinkerSession,
    readonly id: string,
    readonly adapter: AdapterAtService,
  ) {}

  /** @throws AgentRlError, Lost */
  static async create(
    session: TinkerSession,
    { rank, seed, from }: CreateOptions,
  ): Promise<TrainedModel> {
    const { client } = session;
    const created = await client.jsonResult({
      path: 'create_model',
      body: {
        session_id: session.id,
        base_model: session.baseModel,
        lora_config: { rank, seed },
        type: 'create_model',
      },
      // A model whose id was lost stays until the session ends, and does nothing.
      again: true,
    });
    const { model_id: id, lora_config: lora } = created;
    if (typeof id !== 'string') throw client.failure('returned no id for a new model');
    const model = new TrainedModel(session, id, adapterOf(lora, rank));
    if (from !== undefined) await model.#load(from);
    return model;
  }

  /** Only the first order of a model may load. */
  async #load(path: string): Promise<void> {
    const body = { model_id: this.id, path, optimizer: true, seq_id: this.#next() };
    await this.#order('load_weights', { ...body, type: 'load_weights' });
  }

  /** @throws AgentRlError, Lost where it is not known whether a gradient was added */
  async pass({ data, loss, forwardOnly = false }: Pass): Promise<ForwardBackwardOutput> {
    const { client } = this.session;
    if (!forwardOnly) this.#hasGradients = true;
    const body = forwardBackwardRequest({
      modelId: this.id,
      seqId: this.#next(),
      data,
      loss: loss.name,
      lossConfig: loss.config,
      forwardOnly,
    });
    const answer = await client.result({ path: 'forward_backward', body, again: false });
    let output: ForwardBackwardOutput;
    try {
      output = readForwardBackwardOutput(answer.bytes);
    } catch (cause) {
      throw client.failure('returned an unreadable answer to forward_backward', cause);
    }
    const logProbs = output.perDatum.get('logprobs') ?? [];
    const isWhole = logProbs.length === data.length;
    if (isWhole && logProbs.every((row, i) => row.length === data[i]!.tokens.length)) return output;
    throw client.failure(
      `returned log-probabilities for ${logProbs.length} of ${data.length} sequences, or not one for each token`,
    );
  }

  /** What it measured, by name. @throws AgentRlError, Lost where it is not known whether the step was taken */
  async optimStep(options: OptimStepOptions): Promise<ReadonlyMap<string, number>> {
    const { learningRate, beta1, beta2, eps, weightDecay } = options;
    const { metrics } = await this.#order('optim_step', {
      model_id: this.id,
      adam_params: {
        learning_rate: learningRate,
        beta1,
        beta2,
        eps,
        weight_decay: weightDecay,
      },
      seq_id: this.#next(),
      type: 'optim_step',
    });
    this.#hasGradients = false;
    const entries = isRecord(metrics) ? Object.entries(metrics) : [];
    return new Map(entries.filter((entry): entry is [string, number] => isNumber(entry[1])));
  }

  /** Keeps weights and the optimiser's state at the service. @returns their address */
  save(name: string): Promise<string> {
    return this.#save('save_weights', name);
  }

  /** Keeps weights to sample from. @returns their address */
  saveForSampler(name: string): Promise<string> {
    return this.#save('save_weights_for_sampler', name);
  }

  async #save(path: 'save_weights' | 'save_weights_for_sampler', name: string): Promise<string> {
    const body = { model_id: this.id, path: name, seq_id: this.#next(), type: path };
    const { path: address } = await this.#order(path, body);
    if (typeof address === 'string') return address;
    throw this.session.client.failure(`saved ${name} but did not return its address`);
  }

  /** Forgets what was saved under a name, in the background. */
  forget(kind: 'weights' | 'sampler_weights', name: string): void {
    const path = `training_runs/${this.id}/checkpoints/${kind}/${name}`;
    const forgotten = this.session.client.ask({ method: 'DELETE', path, again: false });
    // Without an object to answer with: 204.
    void forgotten.catch(() => undefined);
  }

  /** A file of what was saved to sample from. */
  archive(name: string): Promise<Buffer> {
    return this.session.client.download(`training_runs/${this.id}/checkpoints/${name}/archive`);
  }

  /**
   * Frees its place at the service, without gradients: SkyRL 0.4.0 leaves them to the next model that gets the place.
   *
   * @throws AgentRlError, Lost; then the place may be taken until the session ends
   */
  async unload(): Promise<void> {
    if (this.#hasGradients) await this.optimStep(noStep);
    await this.#order('unload_model', { model_id: this.id, type: 'unload_model' });
  }

  #order(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    return this.session.client.jsonResult({ path, body, again: false });
  }

  #next(): number {
    this.#seqId += 1;
    return this.#seqId;
  }
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

function adapterOf(lora: unknown, asked: number): AdapterAtService {
  const said = isRecord(lora) ? lora : {};
  const number = (name: string, otherwise: number): number => {
    const value = said[name];
    return isNumber(value) ? value : otherwise;
  };
  return {
    rank: number('rank', asked),
    alpha: number('alpha', Number.NaN),
    attention: said['train_attn'] !== false,
    mlp: said['train_mlp'] !== false,
    unembed: said['train_unembed'] === true,
  };
}

/** Norm of the gradient among what a step measured, by the last part of its name; undefined where it is not there. */
export function gradNormOf(metrics: ReadonlyMap<string, number>): number | undefined {
  for (const [name, value] of metrics) if (/(?:^|[/.:])grad_norm$/.test(name)) return value;
  return undefined;
}
