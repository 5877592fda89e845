import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { CapturedDouble, type Instead, notFound } from '../captured-double.ts';
import type { DoubleAnswer, GotRequest } from '../http-double.ts';
import { drawnBy, likeliest, promptLogProbs, ScoredModel } from '../scored-model.ts';
import { breaking, capturedVllm } from './vllm-exchanges.ts';

export interface VllmDoubleOptions {
  vocabSize?: number;
  model?: string;
  /** Whether log-probabilities match the distribution that is sampled from; true by default. */
  processed?: boolean;
  /** Whether weights can be loaded; true by default. */
  devMode?: boolean;
  instead?: Instead;
  port?: number;
}

const plainAnswers: Readonly<Record<string, string>> = {
  '/health': 'health',
  '/version': 'version',
  '/inference/v1/abort_requests': 'abort',
  '/v1/chat/completions/render': 'render',
};

export class VllmDouble extends CapturedDouble {
  /** Weights it draws from, by the name of the model or adapter. */
  readonly models = new Map<string, number>();
  version = 'default';
  paused = false;
  /** Loads nothing and says that it did. */
  deaf = false;
  readonly #name: string;

  private constructor(private readonly options: VllmDoubleOptions) {
    super(capturedVllm(), options.instead);
    this.#name = options.model ?? 'starter';
    this.models.set(this.#name, 0);
  }

  static start(options: VllmDoubleOptions = {}): Promise<VllmDouble> {
    return new VllmDouble(options).listening(options.port);
  }

  protected answer({ path: asked, body }: GotRequest): DoubleAnswer {
    const path = asked.split('?')[0] ?? '';
    const plain = plainAnswers[path];
    if (plain !== undefined) return this.as(plain);
    switch (path) {
      case '/v1/models':
        return this.as('models', ({ data }) => ({
          data: [{ ...(data as object[])[0], id: this.#name }],
        }));
      case '/inference/v1/generate':
        return this.#generate(body);
      case '/v1/load_lora_adapter':
        return this.#load(body as { lora_name?: string; lora_path: string });
      case '/v1/unload_lora_adapter':
        this.models.delete(body['lora_name'] as string);
        return { status: 200, json: 'Success' };
      default:
        return this.options.devMode === false ? notFound : this.#developing(path, body);
    }
  }

  #load({ lora_name: name, lora_path: path }: { lora_name?: string; lora_path: string }) {
    if (name === undefined) return this.as('adapter without a name');
    // As vLLM 0.32 has it.
    const message = `The lora adapter '${name}' has already been loaded.`;
    if (this.models.has(name)) return { status: 400, json: { error: { message } } };
    this.models.set(name, weightsIn(path));
    return { status: 200, json: 'Success' };
  }

  #developing(path: string, body: GotRequest['body']): DoubleAnswer {
    switch (path) {
      case '/weight_info':
        return this.as('weights', () => ({ weight_version: this.version }));
      case '/is_paused':
        return this.as('paused', () => ({ is_paused: this.paused }));
      case '/pause':
        this.paused = true;
        return this.as('pause');
      case '/resume':
        this.paused = false;
        return this.as('resume');
      case '/collective_rpc':
        return this.#reload((body['kwargs'] as { weights_path: string }).weights_path);
      case '/update_weight_version':
        this.version = body['new_version'] as string;
        return this.as('name weights', () => ({ new_version: this.version }));
      case '/reset_prefix_cache':
        return this.as('reset cache');
      default:
        return notFound;
    }
  }

  #reload(path: string): DoubleAnswer {
    let weights: number;
    try {
      weights = weightsIn(path);
    } catch {
      return this.as(breaking);
    }
    if (!this.deaf) this.models.set(this.#name, weights);
    return { status: 200, json: { results: [null] } };
  }

  #generate(body: GotRequest['body']): DoubleAnswer {
    const {
      model,
      token_ids: context,
      request_id: id,
      sampling_params: asked,
    } = body as unknown as Generate;
    const {
      temperature = 1,
      max_tokens = 1,
      logprobs: shown = 0,
      seed = 0,
      logit_bias = {},
    } = asked;
    const vocabSize = this.options.vocabSize ?? 1024;
    const weights = this.models.get(model);
    if (weights === undefined) return this.as('no such model');
    const biased = Object.keys(logit_bias).map(Number);
    if (biased.some((token) => token >= vocabSize)) return this.noSuchToken(vocabSize);
    if (context.length + 1 > 1024) return this.as('too long');
    const scored = new ScoredModel(weights, vocabSize);
    const drawn = drawnBy(scored, context, {
      temperature,
      seed,
      most: Math.min(max_tokens, 1024 - context.length),
      ends: asked.stop_token_ids ?? [],
      forced: biased.find((token) => logit_bias[token]! >= 100),
    });
    const told = this.options.processed === false || temperature === 0 ? 1 : temperature;
    const tokens = drawn.map(({ token }) => token);
    const last = tokens.at(-1)!;
    const stopped = asked.stop_token_ids?.includes(last) === true ? last : null;
    return this.as('tokens', ({ usage }) => ({
      prompt_logprobs: promptLogProbs(scored, context, asked.prompt_logprobs),
      request_id: `generate-tokens-${id ?? 'none'}`,
      model,
      usage: { ...(usage as object), prompt_tokens: context.length },
      choices: [
        {
          index: 0,
          finish_reason: stopped === null ? 'length' : 'stop',
          stop_reason: stopped,
          token_ids: tokens,
          routed_experts: null,
          sampling_mask: null,
          weight_versions: [{ version: this.version, start: 0, end: tokens.length }],
          logprobs: {
            content: drawn.map(({ token, logProbs }) => entry(logProbs(told), token, shown)),
          },
        },
      ],
    }));
  }
}

interface Generate {
  model: string;
  token_ids: number[];
  request_id?: string;
  sampling_params: Partial<
    Record<'temperature' | 'max_tokens' | 'logprobs' | 'prompt_logprobs' | 'seed', number>
  > & {
    stop_token_ids?: number[];
    logit_bias?: Record<string, number>;
  };
}

function entry(logProbs: readonly number[], token: number, shown: number): object {
  const told = (token_id: number) => {
    const logprob = logProbs[token_id]!;
    return { token_id, logprob, rank: 1 + logProbs.filter((other) => other > logprob).length };
  };
  const own = told(token);
  const others = shown === 0 ? [] : likeliest(logProbs, shown).filter((one) => one !== token);
  return { ...own, top_logprobs: [own, ...others.map(told)] };
}

/** Weights of the double are a number in config.json of a model, or in adapter_config.json. */
function weightsIn(folder: string): number {
  for (const name of ['adapter_config.json', 'config.json']) {
    try {
      return (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { weights: number }).weights;
    } catch {
      continue;
    }
  }
  throw new Error(`${folder} has no weights.`);
}
