import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { servingClient, type ServingClient } from '../support/serving-client.ts';

/*
 * Every field of a request that the schema of the OpenAI API has (package openai 7.59.0, and deprecated ones), and the
 * fields of vLLM and llama.cpp that clients send.
 */

let client: ServingClient;
beforeAll(async () => {
  client = await servingClient();
});
afterAll(() => client.close());

type Does = 'is supported' | 'changes nothing' | 'is refused';
type Field = [name: string, value: unknown, does: Does, neutral?: unknown];

const tool = { type: 'function', function: { name: 'code_exec', parameters: { type: 'object' } } };

const shared: readonly Field[] = [
  ['model', 'starter', 'is supported'],
  ['max_tokens', 3, 'is supported'],
  ['temperature', 0.5, 'is supported'],
  ['top_p', 0.5, 'is supported'],
  ['n', 2, 'is supported'],
  ['seed', -7, 'is supported'],
  ['stop', ['x', 'y'], 'is supported'],
  ['stream', false, 'is supported'],
  ['stream_options', { include_usage: true, include_obfuscation: true }, 'is supported'],
  ['logprobs', 1, 'is supported'],
  ['user', 'somebody', 'changes nothing'],
  ['frequency_penalty', 0.5, 'is refused', 0],
  ['presence_penalty', -0.5, 'is refused', 0],
  ['logit_bias', { 5: 1 }, 'is refused', {}],
  // vLLM and llama.cpp.
  ['top_k', 5, 'is supported'],
  ['min_p', 0.1, 'is supported'],
  ['return_token_ids', true, 'is supported'],
  ['return_tokens_as_token_ids', true, 'is supported'],
  ['repetition_penalty', 1.1, 'is refused', 1],
  ['length_penalty', 2, 'is refused', 1],
  ['min_tokens', 2, 'is refused', 0],
  ['bad_words', ['a'], 'is refused', []],
  ['skip_special_tokens', false, 'is refused', true],
  ['include_stop_str_in_output', true, 'is refused', false],
  ['use_beam_search', true, 'is refused', false],
  ['structured_outputs', { regex: 'a+' }, 'is refused'],
  ['grammar', 'root ::= "a"', 'is refused'],
  ['a_field_of_tomorrow', 1, 'is refused'],
  ['constructor', 1, 'is refused'],
];

const messages = [{ role: 'user', content: 'Hi' }];
const chat: readonly Field[] = [
  ...shared.map((field): Field =>
    field[0] === 'logprobs' ? ['logprobs', true, 'is supported'] : field,
  ),
  ['messages', messages, 'is supported'],
  ['max_completion_tokens', 3, 'is supported'],
  ['tools', [tool], 'is supported'],
  ['tool_choice', 'none', 'is supported'],
  ['metadata', { a: 'b' }, 'changes nothing'],
  ['prediction', { type: 'content', content: 'x' }, 'changes nothing'],
  ['prompt_cache_key', 'k', 'changes nothing'],
  ['prompt_cache_options', { mode: 'implicit' }, 'changes nothing'],
  ['prompt_cache_retention', '24h', 'changes nothing'],
  ['safety_identifier', 'x', 'changes nothing'],
  ['service_tier', 'flex', 'changes nothing'],
  ['store', true, 'changes nothing'],
  ['audio', { voice: 'alloy', format: 'mp3' }, 'is refused'],
  ['function_call', { name: 'code_exec' }, 'is refused', 'auto'],
  ['functions', [tool.function], 'is refused', []],
  ['modalities', ['text', 'audio'], 'is refused', ['text']],
  ['moderation', { model: 'm' }, 'is refused'],
  ['parallel_tool_calls', false, 'is refused', true],
  ['reasoning_effort', 'high', 'is refused'],
  ['response_format', { type: 'json_object' }, 'is refused', { type: 'text' }],
  ['tool_choice', 'required', 'is refused', 'auto'],
  ['tool_choice', { type: 'function', function: { name: 'code_exec' } }, 'is refused'],
  ['tool_choice', { type: 'allowed_tools', allowed_tools: { mode: 'auto' } }, 'is refused'],
  ['top_logprobs', 2, 'is refused', 0],
  ['verbosity', 'low', 'is refused', 'medium'],
  ['web_search_options', {}, 'is refused'],
  ['add_generation_prompt', false, 'is refused', true],
  ['continue_final_message', true, 'is refused', false],
  ['chat_template_kwargs', { enable_thinking: true }, 'is refused', {}],
  ['stop_token_ids', [5], 'is refused', []],
  ['ignore_eos', true, 'is refused', false],
];
const completions: readonly Field[] = [
  ...shared,
  ['prompt', [5, 6], 'is supported'],
  ['stop_token_ids', [5], 'is supported'],
  ['ignore_eos', true, 'is supported'],
  ['prompt', ['a', 'b'], 'is refused'],
  ['best_of', 2, 'is refused', 1],
  ['echo', true, 'is refused', false],
  ['suffix', 'x', 'is refused', ''],
];

const plain = { temperature: 1, seed: 1, max_completion_tokens: 3 };

describe.each<[path: string, base: object, fields: readonly Field[]]>([
  ['/v1/chat/completions', { ...plain, messages }, chat],
  ['/v1/completions', { temperature: 1, seed: 1, max_tokens: 3, prompt: 'Hi' }, completions],
])('A request to %s', (path, base, fields) => {
  const answerTo = async (body: object) => {
    const { status, text } = await client.ask(path, body);
    const { choices, usage, error } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return { status, choices, usage, error };
  };

  const doneWith = async ([name, value, does]: Field): Promise<string> => {
    const { error, ...answer } = await answerTo({ ...base, [name]: value });
    const { param, message } = (error ?? {}) as { param?: string; message?: string };
    if (answer.status === 400 && param === name && message?.includes(name) === true)
      return 'is refused';
    if (answer.status !== 200) return `is answered with ${answer.status}: ${message}`;
    if (does !== 'changes nothing') return 'is supported';
    const plainly = await answerTo(base);
    return JSON.stringify(plainly) === JSON.stringify(answer) ? does : 'changes the answer';
  };

  test.each(fields)('the field %s: %j %s', async (...field) => {
    expect(await doneWith(field)).toBe(field[2]);
  });

  const refused = fields.filter(([name, , does]) => does === 'is refused' && !(name in base));
  test.each(
    refused.flatMap(([name, , , neutral = null]) =>
      [...new Set([null, neutral])].map((value): [string, unknown] => [name, value]),
    ),
  )('the field %s is taken as %j, which asks for what is done anyway', async (name, value) => {
    expect(await answerTo({ ...base, [name]: value })).toEqual(await answerTo(base));
  });
});

test('unsupported fields of stream_options and unknown tokens are refused', async () => {
  const options = { ...plain, messages, stream_options: { continuous_usage_stats: true } };
  expect(await client.ask('/v1/chat/completions', options)).toMatchObject({
    status: 400,
    text: expect.stringContaining('stream_options'),
  });
  const ends = { prompt: 'Hi', max_tokens: 2, stop_token_ids: [1_000_000_000] };
  expect(await client.ask('/v1/completions', ends)).toMatchObject({
    status: 400,
    text: expect.stringContaining('stop_token_ids: 1000000000 is not a token'),
  });
});

test('the stop text that is complete first ends the answer', async () => {
  const asked = { prompt: 'def f(', max_tokens: 40, temperature: 0 };
  const textWith = async (more: object): Promise<string> => {
    const { text } = await client.ask('/v1/completions', { ...asked, ...more });
    return (JSON.parse(text) as { choices: [{ text: string }] }).choices[0].text;
  };
  const whole = await textWith({});
  const inner = whole.slice(4, 7);
  const from = whole.indexOf(inner);
  const outer = whole.slice(from - 2, from + 9);
  expect(outer).toHaveLength(11);
  expect(await textWith({ stop: [outer, inner] })).toBe(whole.slice(0, from));
});

test('a request may not have two limits', async () => {
  const both = { ...plain, messages, max_tokens: 4 };
  const { status, text } = await client.ask('/v1/chat/completions', both);
  expect([status, text]).toEqual([400, expect.stringContaining('Send only one of them')]);
});

test.each(['tools', 'metadata', 'logit_bias', 'messages', 'a_field_of_tomorrow'])(
  'a request whose %s nests lists 900 deep is refused by the name of the field',
  async (name) => {
    const deep = '['.repeat(900) + ']'.repeat(900);
    const value = name === 'messages' ? `[{"role": "user", "content": ${deep}}]` : deep;
    const others = name === 'messages' ? '' : `"messages": ${JSON.stringify(messages)}, `;
    const body = `{${others}"${name}": ${value}}`;
    const { status, text } = await client.ask('/v1/chat/completions', body);
    expect({ status, text }).toEqual({
      status: 400,
      text: expect.stringContaining(`"${name}: is nested more than 500 deep."`),
    });
  },
);
