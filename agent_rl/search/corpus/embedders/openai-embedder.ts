import { type Dispatcher, EnvHttpProxyAgent, interceptors } from 'undici';

import { underSignals } from '../../../core/stopping/abort.ts';
import { AgentRlError, messageOf } from '../../../core/errors.ts';
import { secretOf } from '../../../core/wire/secret-of.ts';
import type { EmbeddedAs, Embedder } from '../../../core/services/search.ts';
import { hideSecrets, redactor } from '../../../telemetry/redact.ts';
import type { OpenAiSettings } from '../settings.ts';
import { unitVector } from './unit-vector.ts';
import { append } from '../../../core/long-lists.ts';

// A batch of 2,048 vectors of 4,096 numbers, each of 20 characters, is 160 MB.
const mostResponseBytes = 256 * 2 ** 20;

const shownOfAnswer = 300;

// Text Embeddings Inference takes no more by default.
const textsAtOnce = 32;

/**
 * Asks a server that speaks OpenAI's `POST /v1/embeddings`: vLLM, Text Embeddings Inference, llama.cpp and others.
 * Proxies are taken from HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
 *
 * @throws AgentRlError `EMBEDDER_UNAVAILABLE` when the variable that holds the key is not set
 */
export function openOpenAiEmbedder(settings: OpenAiSettings): Embedder {
  const { apiKeyEnv } = settings;
  if (apiKeyEnv === undefined) return new OpenAiEmbedder(settings, undefined);
  const key = secretOf(apiKeyEnv, {
    user: 'dense.apiKeyEnv',
    code: 'EMBEDDER_UNAVAILABLE',
    remedy: 'Set it, or remove apiKeyEnv if the server needs no key.',
  });
  return new OpenAiEmbedder(settings, key);
}

class OpenAiEmbedder implements Embedder {
  readonly name: string;
  readonly #url: string;
  readonly #hide: (text: string) => string;
  readonly #pool: EnvHttpProxyAgent;
  readonly #dispatcher: Dispatcher;

  constructor(
    private readonly settings: OpenAiSettings,
    private readonly key: string | undefined,
  ) {
    const hideKey = hideSecrets(key === undefined ? [] : [key]);
    this.#hide = (text) => hideKey(redactor()(text));
    this.#url = `${settings.baseUrl.replace(/\/+$/, '')}/embeddings`;
    const { model, dimensions = 'own', queryPrefix = '', passagePrefix = '' } = settings;
    // Without the address: the same model elsewhere gives the same vectors.
    this.name = `openai ${model} ${dimensions} ${JSON.stringify([queryPrefix, passagePrefix])}`;
    const timeout = 1000 * (settings.timeoutS ?? 60);
    this.#pool = new EnvHttpProxyAgent({
      connections: 8,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      maxResponseSize: mostResponseBytes,
    });
    this.#dispatcher = this.#pool.compose(
      interceptors.retry({ maxRetries: settings.maxRetries ?? 3, methods: ['POST'] }),
    );
  }

  async embed(
    texts: readonly string[],
    as: EmbeddedAs,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    const { queryPrefix = '', passagePrefix = '' } = this.settings;
    const prefix = as === 'query' ? queryPrefix : passagePrefix;
    const vectors: Float32Array[] = [];
    for (let first = 0; first < texts.length; first += textsAtOnce) {
      const batch = texts.slice(first, first + textsAtOnce).map((text) => prefix + text);
      append(vectors, await this.#batch(batch, signal));
    }
    return vectors;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #batch(input: readonly string[], signal: AbortSignal | undefined) {
    const { status, text } = await this.#post(input, signal);
    if (status !== 200) throw this.#failed(`answered ${status}: ${this.#shown(text)}`);
    return this.#vectorsOf(text, input.length);
  }

  async #post(input: readonly string[], signal: AbortSignal | undefined) {
    const { model, dimensions, timeoutS = 60 } = this.settings;
    const deadline = AbortSignal.timeout(1000 * timeoutS);
    try {
      const url = new URL(this.#url);
      return await underSignals([signal, deadline], async (either) => {
        const { statusCode: status, body } = await this.#dispatcher.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: this.key === undefined ? undefined : `Bearer ${this.key}`,
          },
          body: JSON.stringify({ model, input, encoding_format: 'float', dimensions }),
          signal: either,
        });
        return { status, text: await body.text() };
      });
    } catch (cause) {
      signal?.throwIfAborted();
      if (deadline.aborted) throw this.#failed(`did not answer within ${timeoutS} s`, cause);
      throw this.#failed(`cannot be reached: ${messageOf(cause)}`, cause);
    }
  }

  #vectorsOf(text: string, count: number): Float32Array[] {
    const rows = rowsOf(text);
    const wanted = Array.from({ length: count }, (_, index) => rows.get(index));
    const width = wanted[0]?.length ?? 0;
    if (rows.size !== count || wanted.some((row) => row === undefined || row.length !== width)) {
      throw this.#failed(
        `did not return ${count} vectors of one width for ${count} texts: ${this.#shown(text)}`,
      );
    }
    return wanted.map((row) => unitVector(row ?? [], this.#url));
  }

  /** Hidden before it is cut: half a key is a leak too. */
  #shown(answer: string): string {
    return this.#hide(answer).slice(0, shownOfAnswer);
  }

  #failed(what: string, cause?: unknown): AgentRlError {
    const message = `The embeddings server ${this.#url} ${this.#hide(what)}`;
    return new AgentRlError('EMBEDDING_FAILED', message, { cause });
  }
}

const isNumbers = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number');

/** The vectors of an answer by their place in the request; none for an answer that is something else. */
function rowsOf(text: string): ReadonlyMap<number, readonly number[]> {
  const rows = new Map<number, readonly number[]>();
  for (const [place, item] of dataOf(text).entries()) {
    const { embedding, index = place } = (item ?? {}) as { embedding?: unknown; index?: unknown };
    if (isNumbers(embedding) && typeof index === 'number') rows.set(index, embedding);
  }
  return rows;
}

function dataOf(text: string): readonly unknown[] {
  try {
    const { data } = JSON.parse(text) as { data?: unknown };
    return Array.isArray(data) ? data : [];
  } catch {
    // Not JSON: the caller shows what came instead.
    return [];
  }
}
