import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { type DoubleAnswer, type GotRequest, httpDouble, type HttpDouble } from '../http-double.ts';
import type { Exchange } from '../exchanges.ts';
import { ScoredModel } from '../scored-model.ts';
import { breaking, capturedVllm } from './vllm-exchanges.ts';

export interface VllmDoubleOptions {
  vocabSize?: number;
  model?: string;
  /** Whether log-probabilities match the distribution that is sampled from; true by default. */
  processed?: boolean;
  /** Whether weights can be loaded; true by default. */
  devMode?: boolean;
  /** What it answers instead of its own, where this is not undefined. */
  instead?: (request: GotRequest) => DoubleAnswer | Promise<DoubleAnswer>;
  port?: number;
}

interface Captured {
  status: number;
  json: Record<string, unknown>;
}

/** vLLM as far as it is asked, in memory: the answers that were captured, with tokens and weights of its own in them. */
export class VllmDouble {
  readonly #captured: ReadonlyMap<string, Exchange>;
  /** Weights it draws from, by the name of the model or adapter. */
  readonly models = new Map<string, number>();
  version = 'default';
  paused = false;
  /** Loads nothing and says that it did. */
  deaf = false;
  instead: VllmDoubleOptions['instead'];
  server!: HttpDouble;

  private constructor(private readonly options: VllmDoubleOptions) {
    this.#captured = new Map(capturedVllm().exchanges.map((one) => [one.name, one]));
    this.models.set(this.#name, 0);
    this.instead = options.instead;
  }

  static async start(options: VllmDoubleOptions = {}): Promise<VllmDouble> {
    const double = new VllmDouble(options);
    double.server = await httpDouble(
      async (request) => (await double.instead?.(request)) ?? double.#answer(request),
      options.port,
    );
    return double;
  }

  get url(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  get #name(): string {
    return this.options.model ?? 'starter';
  }

  #as(name: string, change: (answer: Record<string, unknown>) => object = () => ({})): Captured {
    const { status, answer } = this.#captured.get(name)!;
    const copy = structuredClone(answer) as Record<string, unknown>;
    return { status, json: typeof copy === 'object' ? { ...copy, ...change(copy) } : copy };
  }

  #answer(request: GotRequest): DoubleAnswer {
    const { devMode = true } = this.options;
    const path = request.path.split('?')[0] ?? '';
    const { body } = request;
    switch (path) {
      case '/health':
        return this.#as('health');
      case '/version':
        return this.#as('version');
      case '/v1/models':
        return this.#as('models', ({ data }) => ({
          data: [{ ...(data as object[])[0], id: this.#name }],
        }));
      case '/inference/v1/generate':
        return this.#generate(body);
      case '/inference/v1/abort_requests':
        return this.#as('abort');
      case '/v1/chat/completions/render':
        return this.#as('render');
      case '/v1/load_lora_adapter':
        if (body['lora_name'] === undefined) return this.#as('adapter without a name');
        // As vLLM 0.32 has it.
        if (this.models.has(body['lora_name'] as string))
          return {
            status: 400,
            json: {
              error: {
                message: `The lora adapter '${body['lora_name'] as string}' has already been loaded.`,
              },
            },
          };
        this.models.set(body['lora_name'] as string, weightsIn(body['lora_path'] as string));
        return { status: 200, json: 'Success' };
      case '/v1/unload_lora_adapter':
        this.models.delete(body['lora_name'] as string);
        return { status: 200, json: 'Success' };
      default:
        return devMode
          ? this.#developing(path, body)
          : { status: 404, json: { detail: 'Not Found' } };
    }
  }

  #developing(path: string, body: GotRequest['body']): DoubleAnswer {
    switch (path) {
      case '/weight_info':
        return this.#as('weights', () => ({ weight_version: this.version }));
      case '/is_paused':
        return this.#as('paused', () => ({ is_paused: this.paused }));
      case '/pause':
        this.paused = true;
        return this.#as('pause');
      case '/resume':
        this.paused = false;
        return this.#as('resume');
      case '/collective_rpc':
        return this.#reload((body['kwargs'] as { weights_path: string }).weights_path);
      case '/update_weight_version':
        this.version = body['new_version'] as string;
        return this.#as('name weights', () => ({ new_version: this.version }));
      case '/reset_prefix_cache':
        return this.#as('reset cache');
      default:
        return { status: 404, json: { detail: 'Not Found' } };
    }
  }

  #reload(path: string): DoubleAnswer {
    let weights: number;
    try {
      weights = weightsIn(path);
    } catch {
      return this.#as(breaking);
    }
    if (!this.deaf) this.models.set(this.#name, weights);
    return { status: 200, json: { results: [null] } };
  }

  #generate(body: GotRequest['body']): DoubleAnswer {
    const {
      model,
      token_ids: context,
      request_id: id,
    } = body as { model: string; token_ids: number[]; request_id?: string };
    const asked = body['sampling_params'] as Record<string, number> & {
      stop_token_ids?: number[];
      logit_bias?: Record<string, number>;
    };
    const vocabSize = this.options.vocabSize ?? 1024;
    const weights = this.models.get(model);
    if (weights === undefined) return this.#as('no such model');
    if (Object.keys(asked.logit_bias ?? {}).some((token) => Number(token) >= vocabSize))
      return this.#as('no such token', () => ({
        error: {
          message: `token_id(s) in logit_bias contain out-of-vocab token ids. Vocabulary size: ${vocabSize} (parameter=logit_bias)`,
          type: 'BadRequestError',
          param: 'logit_bias',
          code: 400,
        },
      }));
    if (context.length + 1 > 1024) return this.#as('too long');
    const scored = new ScoredModel(weights, vocabSize);
    const { temperature = 1, max_tokens: most = 1, logprobs: shown = 0, seed = 0 } = asked;
    const seen = [...context];
    const content: object[] = [];
    let stopped: number | null = null;
    while (content.length < most && seen.length < 1024 && stopped === null) {
      const forced = Object.entries(asked.logit_bias ?? {}).find(([, bias]) => bias >= 100)?.[0];
      const token = Number(forced ?? scored.draw(seen, { temperature }, seed));
      const told = this.options.processed === false || temperature === 0 ? 1 : temperature;
      content.push(entry(scored.logProbs(seen, told), token, shown));
      seen.push(token);
      if (asked.stop_token_ids?.includes(token) === true) stopped = token;
    }
    return this.#as('tokens', ({ usage }) => ({
      request_id: `generate-tokens-${id ?? 'none'}`,
      model,
      usage: { ...(usage as object), prompt_tokens: context.length },
      choices: [
        {
          index: 0,
          finish_reason: stopped === null ? 'length' : 'stop',
          stop_reason: stopped,
          token_ids: seen.slice(context.length),
          routed_experts: null,
          sampling_mask: null,
          weight_versions: [{ version: this.version, start: 0, end: content.length }],
          logprobs: { content },
        },
      ],
    }));
  }
}

function entry(logProbs: readonly number[], token: number, shown: number): object {
  const told = (token_id: number) => {
    const logprob = logProbs[token_id]!;
    return { token_id, logprob, rank: 1 + logProbs.filter((other) => other > logprob).length };
  };
  const own = told(token);
  const likeliest =
    shown === 0
      ? []
      : [...logProbs.keys()].toSorted((a, b) => logProbs[b]! - logProbs[a]!).slice(0, shown);
  const others = likeliest.filter((one) => one !== token).map(told);
  return { ...own, top_logprobs: [own, ...others] };
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
