import { randomUUID } from 'node:crypto';
import { request } from 'node:http';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { serveModel } from '#agent_rl/jobs/serve/serve-model.ts';
import { expectStrangersRefused } from '../support/foreign-requests.ts';
import { servingOptions } from '../support/serving.ts';
import {
  type Answer,
  codeTool as tool,
  servingClient,
  type ServingClient,
} from '../support/serving-client.ts';
import { errorOf, rejectionOf } from '../support/thrown.ts';

/*
 * The starter model behind HTTP. It knows one tool, `code_exec`, and how to call it.
 */

const key = 'a-key-of-the-test';
let client: ServingClient;
beforeAll(async () => {
  client = await servingClient(key);
});
afterAll(() => client.close());

const asked: ServingClient['ask'] = (...given) => client.ask(...given);
const answered = (path: string, body: object): Promise<Answer> => client.answered(path, body);

const task = {
  role: 'user',
  content:
    'Read two whole numbers from one line of input. Take the distance between them. Print what you get. Example: input `25 2` gives `23`.',
};
const chat = '/v1/chat/completions';

describe('Chat completion', () => {
  test('calls a tool and continues from its result', async () => {
    const { choices } = await answered(chat, { messages: [task], tools: [tool], temperature: 0 });
    const { message, finish_reason: finish } = choices[0] ?? {};
    expect([finish, message?.content]).toEqual(['tool_calls', null]);
    const { name, arguments: given } = message?.tool_calls?.[0]?.function ?? {};
    expect([name, JSON.parse(given ?? '')]).toEqual([
      'code_exec',
      { code: expect.stringContaining('abs(a - b)') },
    ]);
    const result = { role: 'tool', tool_call_id: message?.tool_calls?.[0]?.id, content: '23' };
    const more = await answered(chat, {
      messages: [task, message ?? {}, result],
      tools: [tool],
      temperature: 0,
    });
    expect(more.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringMatching(/\S/) },
    });
  });

  test('contains no calls when the request has no tools', async () => {
    const { choices } = await answered(chat, { messages: [task], temperature: 0 });
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringMatching(/code_exec/) },
    });
    expect(choices[0]?.message).not.toHaveProperty('tool_calls');
  });

  test('repeats with the same seed, also when requests are concurrent', async () => {
    const body = { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 40, seed: 3 };
    const one = await answered(chat, { ...body, return_token_ids: true });
    const all = await Promise.all(
      [3, 4, 3].map((seed) => answered(chat, { ...body, seed, return_token_ids: true })),
    );
    const ids = all.map(({ choices }) => choices[0]?.token_ids);
    expect(ids[0]).toEqual(one.choices[0]?.token_ids);
    expect(ids[2]).toEqual(ids[0]);
    expect(ids[1]).not.toEqual(ids[0]);
  });
});

describe('Completion', () => {
  test('continues token ids and returns the sampled ids and log-probabilities', async () => {
    const prompt = [1, 300, 301, 302];
    const body = { prompt, max_tokens: 3, temperature: 0, logprobs: 0, return_token_ids: true };
    const { choices, usage } = await answered('/v1/completions', body);
    // As vLLM 0.32 on a CPU gave them for this model and prompt.
    expect(choices[0]?.token_ids).toEqual([53, 362, 362]);
    expect(choices[0]?.logprobs.token_logprobs[0]).toBeCloseTo(-3.103161334991455, 4);
    expect(usage).toEqual({ prompt_tokens: 4, completion_tokens: 3, total_tokens: 7 });
  });

  test('ends after the tokens in stop_token_ids, and with ignore_eos only after these', async () => {
    const body = {
      prompt: [1, 300, 301, 302],
      max_tokens: 3,
      temperature: 0,
      return_token_ids: true,
    };
    const [stopped] = (await answered('/v1/completions', { ...body, stop_token_ids: [362] }))
      .choices;
    expect(stopped).toMatchObject({ finish_reason: 'stop', token_ids: [53, 362] });
    // The end of a turn, which the model would have ended with.
    const ended = { ...body, prompt: 'Done.', max_tokens: 40 };
    const [free] = (await answered('/v1/completions', { ...ended, ignore_eos: true })).choices;
    expect(free).toMatchObject({ finish_reason: 'length' });
    expect(free?.token_ids).toHaveLength(40);
  });
});

describe('A bad request', () => {
  const messages = [{ role: 'user', content: 'x' }];
  test.each<[status: number, how: string, path: string, body: object, param: string | null]>([
    [401, 'without the key', chat, { messages }, null],
    [404, 'for another model', chat, { messages, model: 'other' }, 'model'],
    [404, 'for another path', '/v1/embeddings', {}, null],
    [400, 'for a value out of bounds', chat, { messages, temperature: 9 }, 'temperature'],
    [400, 'without messages', chat, {}, 'messages'],
    [
      400,
      'for too many tokens',
      '/v1/completions',
      { prompt: 'x', max_tokens: 9999 },
      'max_tokens',
    ],
    [400, 'for an unknown token', '/v1/completions', { prompt: [10 ** 6] }, 'prompt'],
  ])('gets status %i %s', async (...[status, , path, body, param]) => {
    const answer = await asked(path, body, status === 401 ? 'wrong' : key);
    expect({ status: answer.status, body: JSON.parse(answer.text) as object }).toEqual({
      status,
      body: {
        error: expect.objectContaining({ message: expect.stringMatching(/\S/), param }),
      },
    });
  });

  test('is stopped when its client gives up', async () => {
    const gone = new AbortController();
    const asking = fetch(client.url + chat, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages, stream: true }),
      signal: gone.signal,
    }).then((response) => response.text());
    gone.abort();
    await expect(asking).rejects.toThrow(/aborted/);
    // The next one has its place.
    expect((await asked(chat, { messages, max_tokens: 2 })).status).toBe(200);
  });
});

describe('A long prompt', () => {
  const long = { role: 'user', content: 'word '.repeat(200_000) };
  const refused = {
    status: 400,
    text: expect.stringMatching(
      /the prompt has at least 62500\..*"code":"context_length_exceeded"/,
    ),
  };

  test('is refused by its length in characters, for streams and completions too', async () => {
    expect(await asked(chat, { messages: [long] })).toMatchObject(refused);
    expect(await asked(chat, { messages: [long], stream: true })).toMatchObject(refused);
    expect(await asked('/v1/completions', { prompt: long.content })).toMatchObject(refused);
  });

  test('is refused before rendering when it has too many empty messages', async () => {
    const empty = Array.from({ length: 5000 }, () => ({ role: 'assistant', content: '' }));
    expect(await asked(chat, { messages: empty, n: 16 })).toMatchObject({
      status: 400,
      text: expect.stringContaining('the prompt has at least 5000.'),
    });
  });

  test('is encoded concurrently when it includes hidden reasoning of an earlier turn', async () => {
    const messages = [task, { role: 'assistant', content: long.content }, task];
    const order: string[] = [];
    const [late, soon] = await Promise.all([
      asked(chat, { messages }).finally(() => order.push('long')),
      asked('/health').finally(() => order.push('health')),
    ]);
    expect([late.status, soon.status, order]).toEqual([400, 200, ['health', 'long']]);
  });

  test('does not block other requests: large bodies are refused by their length', async () => {
    const body = JSON.stringify({ messages: [long, long, long, long] });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const ended: string[] = [];
    const slow = Array.from({ length: 64 }, () => {
      const sent = request(client.url + chat, {
        method: 'POST',
        headers: { ...headers, 'content-length': 60 * 2 ** 20 },
      });
      sent.on('error', () => undefined).on('response', () => ended.push('slow'));
      sent.write('{"messages":');
      return sent;
    });
    const large = Array.from({ length: 50 }, async () => {
      const response = await fetch(client.url + chat, { method: 'POST', headers, body });
      return response.status;
    });
    const answer = await asked(chat, { messages: [task], max_tokens: 2 });
    expect([answer.status, ended]).toEqual([200, []]);
    expect(new Set(await Promise.all(large))).toEqual(new Set([413]));
    for (const sent of slow) sent.destroy();
  });
});

test('an episode that is never released yields its slot, as /health reports', async () => {
  const owner = randomUUID();
  const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 };
  const drawn = Array.from({ length: 6 }, (_, sample) => {
    const tokens = [1, 300, 301, 302 + sample];
    const turn = { seed: 1, taskId: 't', sample, turn: 0 };
    const body = { client: owner, episode: `e${sample}`, tokens, maxTokens: 1, stopTokens: [] };
    return asked('/agent_rl/generate', { ...body, sampling, key: turn });
  });
  expect((await Promise.all(drawn)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  const places = async () =>
    (JSON.parse((await asked('/health')).text) as { places: object }).places;
  expect(await places()).toEqual({ all: 4, used: 0, idle: 4, waiting: 0 });
  await asked('/agent_rl/leave', { client: owner });
  expect(await places()).toEqual({ all: 4, used: 0, idle: 0, waiting: 0 });
});

test('a page that uses another host name or comes from another site gets no answer', async () => {
  const headers = { authorization: `Bearer ${key}` };
  const requests = [
    ['GET', '/v1/models'],
    ['GET', '/health'],
    ['POST', chat],
    ['POST', '/v1/completions'],
    ['GET', '/agent_rl/generator'],
    ['POST', '/agent_rl/generate'],
    ['PUT', `/agent_rl/weights/${randomUUID()}/config.json`],
    ['POST', '/agent_rl/weights'],
    ['OPTIONS', chat],
  ] as const;
  await expectStrangersRefused(client.url, { requests, answered: '/health', headers });
});

test('a server that is reachable from other machines requires a key', async () => {
  const problem = await rejectionOf(
    serveModel({ ...(await servingOptions(AbortSignal.abort())), host: '0.0.0.0' }),
  );
  expect(problem).toMatchObject(errorOf('CONFIG_INVALID', '--api-key-env'));
});
