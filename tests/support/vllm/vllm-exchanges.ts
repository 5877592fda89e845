import {
  type AskedOf,
  captured,
  type CapturedExchanges,
  comparableBy,
  type Exchange,
  exchanged,
  get,
  post,
} from '../exchanges.ts';

/* What the generator asks of vLLM. */

/** Asked of a server of its own: the next generation after a loading that failed ends its engine. */
export const breaking = 'no such folder';

const context = [1, 300, 301, 302];
const generate = (name: string, sampling: object, over: object = {}): AskedOf =>
  post(name, '/inference/v1/generate', {
    model: 'starter',
    request_id: 'one',
    token_ids: context,
    sampling_params: sampling,
    ...over,
  });

const requests: readonly AskedOf[] = [
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

export const askVllm = (url: string): Promise<Exchange[]> => exchanged(url, requests);

export const capturedVllm = (): CapturedExchanges => captured('vllm/exchanges.json');

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

export const comparable = comparableBy(told);
