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

/* What `generator: openai` asks of each kind of server. */

export type ServerKind = 'vllm' | 'llama-cpp';

const context = [1, 300, 301, 302];
const messages = [
  { role: 'system', content: 'You add numbers.' },
  { role: 'user', content: 'What is 2 + 40?' },
];
const completion = (name: string, over: object): AskedOf =>
  post(name, '/v1/completions', {
    model: 'starter',
    prompt: context,
    max_tokens: 1,
    temperature: 1,
    seed: 1,
    logprobs: 1,
    ...over,
  });
const ids = { return_token_ids: true, return_tokens_as_token_ids: true };

const ofVllm: readonly AskedOf[] = [
  get('models', '/v1/models'),
  get('version', '/version'),
  completion('a few', { prompt: [0], max_tokens: 4, return_token_ids: true }),
  completion('without ids', { prompt: [0] }),
  completion('without log-probabilities', { logprobs: null, return_token_ids: true }),
  completion('tokens', {
    max_tokens: 3,
    ignore_eos: true,
    stop_token_ids: [2],
    top_k: 0,
    top_p: 1,
    min_p: 0,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    seed: 3,
    ...ids,
  }),
  completion('stop token', {
    max_tokens: 3,
    temperature: 0,
    stop_token_ids: [53],
    logit_bias: { 53: 100 },
    ...ids,
  }),
  completion('likeliest', { logprobs: 5, ...ids }),
  completion('no such token', { prompt: [0], logit_bias: { 1024: 1 } }),
  completion('no such model', { model: 'other' }),
  completion('too long', { prompt: Array.from({ length: 1025 }, () => 5) }),
  post('conversation', '/tokenize', { model: 'starter', messages, add_generation_prompt: true }),
];

const fields = ['tokens', 'completion_probabilities', 'stop_type', 'tokens_evaluated', 'model'];
const own = (name: string, over: object): AskedOf =>
  post(name, '/completion', {
    model: 'smollm2',
    prompt: context,
    n_predict: 1,
    temperature: 1,
    samplers: ['temperature'],
    seed: 1,
    n_probs: 1,
    post_sampling_probs: false,
    return_tokens: true,
    response_fields: fields,
    ...over,
  });
/** Of SmolLM2's vocabulary: the first bytes of a character, and no more. */
export const halfCharacter = 162;

const ofLlamaCpp: readonly AskedOf[] = [
  get('health', '/health'),
  get('models', '/v1/models'),
  get('version', '/version'),
  completion('a few', { model: 'smollm2', prompt: [0], max_tokens: 4, return_token_ids: true }),
  completion('no bias', { model: 'smollm2', prompt: [0], logit_bias: { 49152: 1 } }),
  own('tokens', { n_predict: 3, seed: 3 }),
  own('end of text', { n_predict: 3, logit_bias: [[2, 1000]] }),
  own('half a character', { n_predict: 2, logit_bias: [[halfCharacter, 1000]] }),
  own('likeliest', { n_probs: 5 }),
  own('likeliest at a temperature', { n_probs: 5, temperature: 0.5, post_sampling_probs: true }),
  own('list', {
    temperature: 0,
    n_probs: 100,
    logit_bias: [[0, 1000]],
    response_fields: ['completion_probabilities'],
  }),
  own('no such token', { prompt: [1, 49_152] }),
  own('too long', { prompt: Array.from({ length: 600 }, () => 5) }),
  post('template', '/apply-template', { messages }),
  post('conversation', '/tokenize', { content: 'You add', add_special: true, parse_special: true }),
];

export const askOpenai = (kind: ServerKind, url: string): Promise<Exchange[]> =>
  exchanged(url, kind === 'vllm' ? ofVllm : ofLlamaCpp);

export const capturedOpenai = (kind: ServerKind): CapturedExchanges =>
  captured(`openai/${kind}.json`);

/** What means something to the generator; the rest may be another value of its kind. */
const kinds = comparableBy(
  new Set([
    'finish_reason',
    'stop_reason',
    'stop_type',
    'status',
    'max_model_len',
    'n_ctx',
    'parent',
    'code',
    'type',
    'prompt_tokens',
    'completion_tokens',
    'tokens_evaluated',
  ]),
);

export const comparable = (exchanges: readonly Exchange[]) =>
  kinds(
    exchanges.map((one) => {
      // Which tokens are the likeliest differs too.
      const text = JSON.stringify(one.answer).replaceAll(/"token_id:\d+":/g, '"token_id":');
      return { ...one, answer: JSON.parse(text) as unknown };
    }),
  );
