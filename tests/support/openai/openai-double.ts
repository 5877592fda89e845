import type { Exchange } from '../exchanges.ts';
import { type DoubleAnswer, type GotRequest, httpDouble, type HttpDouble } from '../http-double.ts';
import { ScoredModel } from '../scored-model.ts';
import { drawnBy } from './drawn-by.ts';
import { capturedOpenai, type ServerKind } from './openai-exchanges.ts';

export interface OpenaiDoubleOptions {
  vocabSize?: number;
  /** Whether log-probabilities match the distribution that is sampled from; true by default. */
  processed?: boolean;
  /** Tokens that end a text for llama.cpp. */
  endsOfText?: readonly number[];
  /** Tokens that are half a character for llama.cpp. */
  halves?: readonly number[];
  /** What it answers instead of its own, where this is not undefined. */
  instead?: (request: GotRequest) => DoubleAnswer | Promise<DoubleAnswer>;
}

const mostTokens = 1024;

/** A server of the OpenAI API as far as it is asked, in memory: the answers that were captured, with tokens of its own in them. */
export class OpenaiDouble {
  readonly #captured: ReadonlyMap<string, Exchange>;
  readonly #model: ScoredModel;
  instead: OpenaiDoubleOptions['instead'];
  server!: HttpDouble;

  private constructor(
    readonly kind: ServerKind,
    private readonly options: OpenaiDoubleOptions,
  ) {
    this.#captured = new Map(capturedOpenai(kind).exchanges.map((one) => [one.name, one]));
    this.#model = new ScoredModel(0, options.vocabSize ?? 1024);
    this.instead = options.instead;
  }

  static async start(kind: ServerKind, options: OpenaiDoubleOptions = {}): Promise<OpenaiDouble> {
    const double = new OpenaiDouble(kind, options);
    double.server = await httpDouble(
      async (request) => (await double.instead?.(request)) ?? double.#answer(request),
    );
    return double;
  }

  get url(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  #as(name: string, change: (answer: Record<string, unknown>) => object = () => ({})) {
    const { status, answer } = this.#captured.get(name)!;
    const copy = structuredClone(answer) as Record<string, unknown>;
    return { status, json: { ...copy, ...change(copy) } };
  }

  #answer({ path, body }: GotRequest): DoubleAnswer {
    const isVllm = this.kind === 'vllm';
    switch (path) {
      case '/v1/models':
        return this.#models();
      case '/version':
        return this.#as('version');
      case '/v1/completions':
        return isVllm ? this.#tokenIds(body) : this.#openAiOfLlamaCpp(body);
      case '/tokenize':
        // Of the starter, which the tests take for the run's model.
        return isVllm ? this.#as('conversation') : this.#as('conversation', () => ({ tokens }));
    }
    if (!isVllm && path === '/health') return this.#as('health');
    if (!isVllm && path === '/apply-template') return this.#as('template');
    if (!isVllm && path === '/completion') return this.#ofLlamaCpp(body);
    return { status: 404, json: { detail: 'Not Found' } };
  }

  #models(): DoubleAnswer {
    const { vocabSize } = this.#model;
    return this.#as('models', ({ data }) => {
      const [first] = data as Record<string, object>[];
      const meta = { ...first!['meta'], n_vocab: vocabSize, n_ctx: mostTokens };
      return { data: [this.kind === 'vllm' ? first : { ...first, meta }] };
    });
  }

  #tokenIds(body: GotRequest['body']): DoubleAnswer {
    const { vocabSize } = this.#model;
    if (body['model'] !== 'starter') return this.#as('no such model');
    const bias = Object.keys((body['logit_bias'] as object | undefined) ?? {});
    if (bias.some((token) => Number(token) >= vocabSize))
      return this.#as('no such token', () => ({
        error: {
          message: `token_id(s) in logit_bias contain out-of-vocab token ids. Vocabulary size: ${vocabSize} (parameter=logit_bias)`,
          type: 'BadRequestError',
          param: 'logit_bias',
          code: 400,
        },
      }));
    const context = body['prompt'] as number[];
    const temperature = Number(body['temperature']);
    const ends = (body['stop_token_ids'] as number[] | undefined) ?? [];
    const most = Math.min(Number(body['max_tokens']), mostTokens - context.length);
    if (most < 1) return this.#as('too long');
    const seed = Number(body['seed']);
    const drawn = drawnBy(this.#model, context, { temperature, most, ends, seed });
    const isRaw = this.options.processed === false || temperature === 0;
    const given = drawn.map(({ token, logProbs }) => ({
      token,
      ...logProbs(isRaw ? 1 : temperature),
    }));
    const name = (token: number) => `token_id:${token}`;
    const count = Number(body['logprobs']);
    const isStopped = ends.includes(drawn.at(-1)!.token);
    return this.#as(isStopped ? 'stop token' : 'tokens', ({ choices, usage }) => ({
      usage: {
        ...(usage as object),
        prompt_tokens: context.length,
        completion_tokens: given.length,
      },
      choices: [
        {
          ...(choices as object[])[0],
          token_ids: given.map(({ token }) => token),
          prompt_token_ids: context,
          logprobs: {
            text_offset: given.map((_, i) => i),
            token_logprobs: given.map(({ own }) => own),
            tokens: given.map(({ token }) => name(token)),
            top_logprobs: given.map(({ likeliest }) =>
              Object.fromEntries(
                likeliest(count).map(({ token, logProb }) => [name(token), logProb]),
              ),
            ),
          },
        },
      ],
    }));
  }

  #openAiOfLlamaCpp(body: GotRequest['body']): DoubleAnswer {
    return 'logit_bias' in body ? this.#as('no bias') : this.#as('a few');
  }

  #ofLlamaCpp(body: GotRequest['body']): DoubleAnswer {
    const { endsOfText: ends = [], halves = [], processed = true } = this.options;
    const context = body['prompt'] as number[];
    const temperature = Number(body['temperature']);
    const most = Math.min(Number(body['n_predict']), mostTokens - context.length);
    if (most < 1) return this.#as('too long');
    const [forced] = (body['logit_bias'] as [number, number][] | undefined) ?? [];
    const seed = Number(body['seed'] ?? 0);
    const of = { temperature, most, ends, seed, ...(forced && { forced: forced[0] }) };
    const drawn = drawnBy(this.#model, context, of);
    const isPosterior = processed && body['post_sampling_probs'] === true;
    const count = Number(body['n_probs']);
    const entries = drawn
      .filter(({ token }) => !halves.includes(token))
      .map(({ token, logProbs }) => {
        const { own, likeliest } = logProbs(isPosterior ? temperature : 1);
        const top = likeliest(count);
        return isPosterior
          ? {
              id: token,
              prob: Math.exp(own),
              top_probs: top.map((one) => ({ id: one.token, prob: Math.exp(one.logProb) })),
            }
          : {
              id: token,
              logprob: own,
              top_logprobs: top.map((one) => ({ id: one.token, logprob: one.logProb })),
            };
      });
    const isEnded = ends.includes(drawn.at(-1)!.token);
    const { json, status } = this.#as(isEnded ? 'end of text' : 'tokens', () => ({
      tokens: drawn.map(({ token }) => token),
      tokens_evaluated: context.length,
      completion_probabilities: entries,
    }));
    // As the real one, which leaves an empty list out.
    const fields = (body['response_fields'] as string[]).filter(
      (field) => field !== 'completion_probabilities' || entries.length > 0,
    );
    const answer = json as Record<string, unknown>;
    return { status, json: Object.fromEntries(fields.map((field) => [field, answer[field]])) };
  }
}

const { tokens } = capturedOpenai('vllm').exchanges.find(({ name }) => name === 'conversation')!
  .answer as { tokens: number[] };
