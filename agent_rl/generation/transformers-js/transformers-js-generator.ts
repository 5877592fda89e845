import type { PreTrainedModel, Tensor } from '@huggingface/transformers';
import PQueue from 'p-queue';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import type {
  Generation,
  GenerationRequest,
  Generator,
  GeneratorInfo,
} from '../../core/services/generator.ts';
import { drawFromLogits } from '../draw-truncated.ts';
import { ActiveRequest } from '../slot.ts';
import { append } from '../../core/long-lists.ts';

type Past = Readonly<Record<string, Tensor>>;

/** Of an episode, up to its last turn: of a turn that failed or was given up nothing, since it may be asked for again. */
interface Kept {
  /** Tokens whose keys and values `past` holds. */
  tokens: number[];
  past: Past | undefined;
}

/** Most tokens fed at once: a run of the model blocks its thread, and an abort should not wait for a whole prompt. */
const mostFed = 256;

/**
 * Generation by transformers.js: tokens in, tokens out, drawn here by the request's key as the engine's generator
 * does. One request is answered at a time; an episode's keys and values are kept until it is released.
 */
export class TransformersJsGenerator implements Generator {
  readonly #maxContextTokens: number;
  readonly #kept = new Map<string, Kept>();
  readonly #unanswered = new Set<ActiveRequest>();
  readonly #queue = new PQueue({ concurrency: 1 });

  constructor(
    private readonly model: PreTrainedModel,
    private readonly tensor: typeof Tensor,
    maxContextTokens: number,
  ) {
    // As many as the engine's generator holds for the same setting.
    this.#maxContextTokens = Math.ceil(maxContextTokens / 16) * 16;
  }

  async describe(): Promise<GeneratorInfo> {
    return {
      name: 'transformers.js',
      maxContextTokens: this.#maxContextTokens,
      reproducible: true,
      takes: [],
    };
  }

  generate(request: GenerationRequest, signal?: AbortSignal): Promise<Generation> {
    return new Promise((resolve, reject) => {
      const active = new ActiveRequest(request, signal, { resolve, reject });
      this.#unanswered.add(active);
      this.#queue
        .add(async () => {
          const stop = await this.#answer(active);
          if (stop === 'aborted') this.#kept.delete(request.episode);
          active.finish(stop, 0);
        })
        .catch((thrown: unknown) => {
          this.#kept.delete(request.episode);
          reject(thrown);
        })
        .finally(() => this.#unanswered.delete(active));
    });
  }

  release(episode: string): void {
    for (const active of this.#unanswered) {
      if (active.request.episode === episode) active.abandoned = true;
    }
    this.#kept.delete(episode);
  }

  /** Answers what is under way as aborted, and gives the model's memory back. */
  async close(): Promise<void> {
    for (const active of this.#unanswered) active.abandoned = true;
    await this.#queue.onIdle();
    await this.model.dispose();
  }

  /** Draws tokens until something ends the turn. */
  async #answer(active: ActiveRequest): Promise<Generation['stop']> {
    const { episode, tokens, maxTokens, stopTokens, sampling } = active.request;
    if (maxTokens <= 0) return 'max-tokens';
    if (tokens.length >= this.#maxContextTokens) return 'context-full';
    const kept = this.#kept.get(episode) ?? { tokens: [], past: undefined };
    let pending = freshTokens(kept, active.request);
    for (;;) {
      const logits = await this.#feed(kept, pending, active);
      if (logits === undefined || active.abandoned) return 'aborted';
      this.#kept.set(episode, kept);
      const { token, logProb } = drawFromLogits(logits, sampling, active.uniform);
      active.tokens.push(token);
      active.logProbs.push(logProb);
      if (stopTokens.includes(token)) return 'stop-token';
      if (active.tokens.length >= maxTokens) return 'max-tokens';
      if (kept.tokens.length + 1 >= this.#maxContextTokens) return 'context-full';
      pending = [token];
    }
  }

  /** Feeds tokens and returns the logits after the last, or nothing when it is stopped before. */
  async #feed(
    kept: Kept,
    tokens: readonly number[],
    active: ActiveRequest,
  ): Promise<Float32Array | undefined> {
    let logits: Float32Array | undefined;
    for (let first = 0; first < tokens.length; first += mostFed) {
      await new Promise((resolve) => setImmediate(resolve));
      if (active.abandoned || active.signal?.aborted === true) return undefined;
      logits = await this.#run(kept, tokens.slice(first, first + mostFed));
    }
    return logits;
  }

  async #run(kept: Kept, tokens: readonly number[]): Promise<Float32Array> {
    const outputs = await this.#forward({
      input_ids: this.#int64(tokens),
      attention_mask: this.#int64([...kept.tokens, ...tokens].map(() => 1)),
      num_logits_to_keep: new this.tensor('int64', [1n], []),
      past_key_values: kept.past,
    });
    const { logits } = outputs;
    if (logits === undefined) throw failed('its model has no output "logits"');
    kept.past = pastOf(outputs);
    append(kept.tokens, tokens);
    const { data } = logits.to('float32');
    return (data as Float32Array).slice(-(logits.dims.at(-1) ?? 0));
  }

  async #forward(inputs: Readonly<Record<string, unknown>>): Promise<Record<string, Tensor>> {
    try {
      return (await this.model.forward(inputs)) as Record<string, Tensor>;
    } catch (cause) {
      throw failed(messageOf(cause), cause);
    }
  }

  #int64(values: readonly number[]): Tensor {
    return new this.tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  }
}

/** The tokens of a request that are not kept yet. */
function freshTokens({ tokens: before }: Kept, { episode, tokens }: GenerationRequest): number[] {
  const continues = before.length < tokens.length && before.every((one, i) => one === tokens[i]);
  if (continues) return tokens.slice(before.length);
  throw new AgentRlError(
    'GENERATION_FAILED',
    `Episode ${episode} requested tokens after a context that is empty or does not continue its previous one.`,
  );
}

/** `present.N.key` of one run is `past_key_values.N.key` of the next. */
function pastOf(outputs: Readonly<Record<string, Tensor>>): Past {
  const present = Object.entries(outputs).filter(([name]) => name.startsWith('present.'));
  if (present.length === 0)
    throw failed('its model does not return keys and values ("present.N.key")');
  return Object.fromEntries(
    present.map(([name, tensor]) => [name.replace('present', 'past_key_values'), tensor]),
  );
}

const failed = (problem: string, cause?: unknown): AgentRlError =>
  new AgentRlError('GENERATION_FAILED', `transformers.js failed: ${problem}.`, { cause });
