import { CapturedDouble, type Instead, notFound } from '../captured-double.ts';
import type { DoubleAnswer, GotRequest } from '../http-double.ts';
import { drawnBy, likeliest, ScoredModel } from '../scored-model.ts';
import { capturedOpenai, type ServerKind } from './openai-exchanges.ts';

export interface OpenaiDoubleOptions {
  vocabSize?: number;
  /** Whether log-probabilities match the distribution that is sampled from; true by default. */
  processed?: boolean;
  /** Whether vLLM gives a prompt back with its log-probabilities; true by default. */
  echoes?: boolean;
  /** Whether tokens are named by their ids where that is asked for; true by default. */
  namesIds?: boolean;
  /** Tokens that end a text for llama.cpp. */
  endsOfText?: readonly number[];
  /** Tokens that are half a character for llama.cpp. */
  halves?: readonly number[];
  instead?: Instead;
}

const mostTokens = 1024;

export class OpenaiDouble extends CapturedDouble {
  readonly #model: ScoredModel;

  private constructor(
    readonly kind: ServerKind,
    private readonly options: OpenaiDoubleOptions,
  ) {
    super(capturedOpenai(kind), options.instead);
    this.#model = new ScoredModel(0, options.vocabSize ?? 1024);
  }

  static start(kind: ServerKind, options: OpenaiDoubleOptions = {}): Promise<OpenaiDouble> {
    return new OpenaiDouble(kind, options).listening();
  }

  protected answer({ path, body }: GotRequest): DoubleAnswer {
    const isVllm = this.kind === 'vllm';
    switch (path) {
      case '/v1/models':
        return this.#models();
      case '/version':
        return this.as('version');
      case '/v1/completions':
        if (isVllm) return this.#tokenIds(body);
        return this.as('logit_bias' in body ? 'no bias' : 'a few');
      case '/tokenize':
        // Of the starter, which the tests take for the run's model.
        return isVllm ? this.as('conversation') : this.as('conversation', () => ({ tokens }));
    }
    if (!isVllm && path === '/health') return this.as('health');
    if (!isVllm && path === '/apply-template') return this.as('template');
    if (!isVllm && path === '/completion') return this.#ofLlamaCpp(body);
    return notFound;
  }

  #models(): DoubleAnswer {
    const { vocabSize } = this.#model;
    return this.as('models', ({ data }) => {
      const [first] = data as Record<string, object>[];
      const meta = { ...first!['meta'], n_vocab: vocabSize, n_ctx: mostTokens };
      return { data: [this.kind === 'vllm' ? first : { ...first, meta }] };
    });
  }

  #tokenIds(body: GotRequest['body']): DoubleAnswer {
    const { vocabSize } = this.#model;
    if (body['model'] !== 'starter') return this.as('no such model');
    const bias = Object.keys((body['logit_bias'] as object | undefined) ?? {});
    if (bias.some((token) => Number(token) >= vocabSize)) return this.noSuchToken(vocabSize);
    const context = body['prompt'] as number[];
    const temperature = Number(body['temperature']);
    const ends = (body['stop_token_ids'] as number[] | undefined) ?? [];
    const { echoes = true, namesIds = true } = this.options;
    const name = (token: number) => (namesIds ? `token_id:${token}` : `text ${token}`);
    if (body['echo'] === true && echoes) return this.#echo(body, name);
    const most = Math.min(Number(body['max_tokens']), mostTokens - context.length);
    if (most < 1) return this.as('too long');
    const seed = Number(body['seed'] ?? 0);
    const drawn = drawnBy(this.#model, context, { temperature, most, ends, seed });
    const told = this.options.processed === false || temperature === 0 ? 1 : temperature;
    const count = Number(body['logprobs']);
    const ids = drawn.map(({ token }) => token);
    const all = drawn.map(({ logProbs }) => logProbs(told));
    const logprobs = {
      text_offset: ids.map((_, i) => i),
      token_logprobs: ids.map((token, i) => all[i]![token]),
      tokens: ids.map(name),
      top_logprobs: all.map((each) =>
        Object.fromEntries(likeliest(each, count).map((token) => [name(token), each[token]])),
      ),
    };
    const both = { token_ids: ids, prompt_token_ids: context };
    const counts = { prompt_tokens: context.length, completion_tokens: ids.length };
    return this.as(ends.includes(ids.at(-1)!) ? 'stop token' : 'tokens', ({ choices, usage }) => ({
      usage: { ...(usage as object), ...counts },
      choices: [{ ...(choices as object[])[0], ...both, logprobs }],
    }));
  }

  #echo(body: GotRequest['body'], name: (token: number) => string): DoubleAnswer {
    const prompt = body['prompt'] as number[];
    const all = prompt.map((_, place) =>
      place === 0 ? undefined : this.#model.logProbs(prompt.slice(0, place), 1),
    );
    const logprobs = {
      tokens: prompt.map(name),
      token_logprobs: all.map((each, place) => each?.[prompt[place]!] ?? null),
      top_logprobs: all.map(
        (each) =>
          each &&
          Object.fromEntries(
            likeliest(each, Number(body['logprobs'])).map((token) => [name(token), each[token]]),
          ),
      ),
    };
    return this.as('tokens', ({ choices, usage }) => ({
      usage: { ...(usage as object), prompt_tokens: prompt.length },
      choices: [{ ...(choices as object[])[0], logprobs }],
    }));
  }

  #ofLlamaCpp(body: GotRequest['body']): DoubleAnswer {
    const { endsOfText: ends = [], halves = [], processed = true } = this.options;
    const context = body['prompt'] as number[];
    const temperature = Number(body['temperature']);
    const most = Math.min(Number(body['n_predict']), mostTokens - context.length);
    if (most < 1) return this.as('too long');
    const [forced] = (body['logit_bias'] as [number, number][] | undefined) ?? [];
    const seed = Number(body['seed'] ?? 0);
    const of = { temperature, most, ends, seed, ...(forced && { forced: forced[0] }) };
    const drawn = drawnBy(this.#model, context, of);
    const isPosterior = processed && body['post_sampling_probs'] === true;
    const count = Number(body['n_probs']);
    const entries = drawn
      .filter(({ token }) => !halves.includes(token))
      .map(({ token, logProbs }) => {
        const all = logProbs(isPosterior ? temperature : 1);
        const said = (id: number) =>
          isPosterior ? { id, prob: Math.exp(all[id]!) } : { id, logprob: all[id] };
        const top = likeliest(all, count).map(said);
        return Object.assign(said(token), isPosterior ? { top_probs: top } : { top_logprobs: top });
      });
    const isEnded = ends.includes(drawn.at(-1)!.token);
    const { json, status } = this.as(isEnded ? 'end of text' : 'tokens', () => ({
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
