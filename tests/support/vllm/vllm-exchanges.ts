import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { isRecord } from '#agent_rl/core/is-record.ts';

/*
 * What the generator asks of vLLM, refusals included. The answers of the real server are in tests/fixtures/vllm; the double is
 * made of them, and `npm run test:real` asks a real one again.
 */

export interface Exchange {
  /** What it shows. */
  name: string;
  method: 'GET' | 'POST';
  path: string;
  body?: Readonly<Record<string, unknown>>;
  status: number;
  /** The answer; its text where it is not JSON. */
  answer: unknown;
}

export interface CapturedExchanges {
  server: string;
  version: string;
  exchanges: Exchange[];
}

type Asked = Omit<Exchange, 'status' | 'answer'>;

/** Asked of a server of its own: the next generation after a loading that failed ends its engine. */
export const breaking = 'no such folder';

const get = (name: string, path: string): Asked => ({ name, method: 'GET', path });
const post = (name: string, path: string, body: Record<string, unknown>): Asked => ({
  name,
  method: 'POST',
  path,
  body,
});
const context = [1, 300, 301, 302];
const generate = (name: string, sampling: object, over: object = {}): Asked =>
  post(name, '/inference/v1/generate', {
    model: 'starter',
    request_id: 'one',
    token_ids: context,
    sampling_params: sampling,
    ...over,
  });

const requests: readonly Asked[] = [
  post('name weights', '/update_weight_version', { new_version: 'default' }),
  get('health', '/health'),
  get('version', '/version'),
  get('models', '/v1/models'),
  get('weights', '/weight_info'),
  get('paused', '/is_paused'),
  generate('tokens', {
    max_tokens: 3,
    ignore_eos: true,
    stop_token_ids: [2],
    temperature: 1,
    top_k: 0,
    top_p: 1,
    min_p: 0,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    seed: 3,
    logprobs: 0,
    detokenize: false,
  }),
  generate('stop token', {
    max_tokens: 3,
    stop_token_ids: [53],
    logit_bias: { 53: 100 },
    temperature: 0,
    logprobs: 0,
  }),
  generate('likeliest', { max_tokens: 1, temperature: 1, logprobs: 5, seed: 1 }),
  generate('no such token', { max_tokens: 1, logit_bias: { 1024: 1 } }),
  generate('no such model', { max_tokens: 1 }, { model: 'other' }),
  generate('too long', { max_tokens: 1 }, { token_ids: Array.from({ length: 1025 }, () => 5) }),
  post('abort', '/inference/v1/abort_requests', { request_ids: ['generate-tokens-none'] }),
  post('render', '/v1/chat/completions/render', {
    model: 'starter',
    messages: [
      { role: 'system', content: 'You add numbers.' },
      { role: 'user', content: 'What is 2 + 40?' },
    ],
  }),
  post('adapter without a name', '/v1/load_lora_adapter', {}),
  post('pause', '/pause?mode=keep', {}),
  post('reset cache', '/reset_prefix_cache', {}),
  post('resume', '/resume', {}),
];

export async function askVllm(url: string): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const asked of requests) {
    const { method, path, body } = asked;
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const answer = await fetch(url + path, { method, ...sent });
    const text = await answer.text();
    exchanges.push({ ...asked, status: answer.status, answer: parsed(text) });
  }
  return exchanges;
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export const capturedVllm = (): CapturedExchanges =>
  JSON.parse(
    readFileSync(join(packageRoot(), 'tests', 'fixtures', 'vllm', 'exchanges.json'), 'utf8'),
  ) as CapturedExchanges;

/** What means something to the generator; the rest may be another value of its kind. */
const told = new Set([
  'finish_reason',
  'stop_reason',
  'weight_versions',
  'weight_version',
  'version',
  'is_paused',
  'max_model_len',
  'parent',
  'code',
  'prompt_tokens',
]);

/** An answer with the kinds of its values in place of those that differ from model to model. */
function kindsOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [kindsOf(value[0])];
  if (!isRecord(value)) return value === null ? null : typeof value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, told.has(key) ? inner : kindsOf(inner)]),
  );
}

export const comparable = (exchanges: readonly Exchange[]) =>
  exchanges.map(({ name, status, answer }) => ({ name, status, answer: kindsOf(answer) }));
