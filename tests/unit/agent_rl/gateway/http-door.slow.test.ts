import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { openAiError } from '#agent_rl/gateway/dialects/openai-answers.ts';
import { answerCall } from '#agent_rl/gateway/doors/answer-call.ts';
import { Session } from '#agent_rl/gateway/turns/session.ts';
import { page } from '#agent_rl/http/answer-request.ts';
import { servePages } from '#agent_rl/http/serve-pages.ts';
import { askBy, doorTo, post, said, user } from '#tests/support/agent-client.ts';
import { counting, held, openedSession } from '#tests/support/opened-session.ts';
import { scriptedGateway } from '#tests/support/scripted-gateway.ts';
import { rolloutRules, scriptedModel } from '#tests/support/scripted-session.ts';
import { until } from '#tests/support/until.ts';

describe('The server of a gateway', () => {
  let opened: Awaited<ReturnType<typeof scriptedGateway>>;
  beforeAll(async () => {
    opened = await scriptedGateway(() => 't</think>yes');
  });
  afterAll(() => opened.gateway.close());

  const asking = ({ baseURL, apiKey }: Record<'baseURL' | 'apiKey', string>, body: object) =>
    askBy((_, init) => fetch(`${baseURL}/chat/completions`, init))(body, {
      headers: { authorization: `Bearer ${apiKey}` },
    });

  test('accepts the key of a rollout until it ends, and no other key', async () => {
    const door = opened.enter('one');
    const body = { messages: [user('Q')] };
    expect((await asking(door, body)).choices[0]?.message.content).toBe('yes');
    const over = { status: 401, error: { code: 'rollout_over' } };
    expect(await asking({ ...door, apiKey: `${door.apiKey}x` }, body)).toMatchObject(over);
    const none = await fetch(`${door.baseURL}/chat/completions`, post(body));
    expect(none.status).toBe(401);
    expect((await door.end('yes')).requests).toMatchObject({ turns: 1, delivered: 1 });
    expect(await asking(door, body)).toMatchObject(over);
    // By fetch too, and with what to do where the agent is not over (trap 5).
    const message = expect.stringContaining('Use context.fetch');
    expect(await askBy(door.fetch)(body)).toMatchObject({ status: 401, error: { message } });
  });

  test('accepts tool results of many megabytes and limits them by length alone', async () => {
    const door = opened.enter('large');
    const large = await asking(door, { messages: [user('word '.repeat(6 * 2 ** 20))] });
    expect(large).toMatchObject({ status: 400, error: { code: 'context_length_exceeded' } });
    // What is long and has no part in the prompt is read.
    const metadata = { note: 'x'.repeat(40 * 2 ** 20) };
    expect((await asking(door, { messages: [user('Q')], metadata })).status).toBe(200);
    const tooLarge = 'x'.repeat(65 * 2 ** 20);
    expect((await asking(door, { messages: [user('Q')], metadata: tooLarge })).status).toBe(413);
    await door.end('yes');
  });

  test('keeps connections open longer than clients are silent and refuses pages of other sites', async () => {
    const door = opened.enter('guarded');
    const answered = await fetch(`${door.baseURL}/models`, {
      headers: { authorization: `Bearer ${door.apiKey}` },
    });
    expect(answered.headers.get('keep-alive')).toBe('timeout=75');
    const { port } = new URL(door.baseURL);
    const headers = { host: 'evil.example', authorization: `Bearer ${door.apiKey}` };
    const asked = httpRequest({ host: '127.0.0.1', port, path: '/v1/models', headers });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(403);
    await door.end('yes');
  });
});

describe('A client that waits', () => {
  const call = { method: 'POST', path: '/v1/chat/completions', header: () => undefined };

  /** A server that lets its clients hear something every 10 ms. */
  async function beating() {
    const { waiting, script } = held(counting());
    const { session } = await openedSession(script);
    const server = await servePages({
      host: '127.0.0.1',
      port: 0,
      code: 'CONFIG_INVALID',
      what: 'The gateway',
      pages: [
        page('POST', /^\/v1\/chat\/completions$/, (asked) =>
          answerCall({ ...call, body: asked.body, signal: asked.signal }, session, {
            unsupported: 'ignore',
          }),
        ),
      ],
      mostRequests: 10,
      requestTimeoutMs: 60_000,
      beatMs: 10,
      errorBody: openAiError,
      onFailure: () => undefined,
    });
    return { server, session, waiting, url: server.url + call.path };
  }

  /** What comes before the model has answered, and then all. */
  async function heard(body: object, beat: string) {
    const { server, session, waiting, url } = await beating();
    const response = await fetch(url, post(body));
    const reader = response.body!.getReader();
    let all = '';
    const readMore = async (): Promise<boolean> => {
      const { done, value } = await reader.read();
      all += new TextDecoder().decode(value);
      return !done;
    };
    while (!all.includes(beat)) await readMore();
    const before = all;
    await until(() => waiting.length === 1);
    waiting.pop()!();
    for (let isMore = true; isMore;) isMore = await readMore();
    await until(() => session.tree.nodes[0]?.delivered === true);
    await server.close();
    return { before, all, type: response.headers.get('content-type') };
  }

  test('receives blanks before JSON', async () => {
    const { before, all, type } = await heard({ messages: [user('Q')] }, '  ');
    expect(type).toBe('application/json');
    expect(before.trim()).toBe('');
    expect(all).toMatch(/^ {2,}\{/);
    expect(JSON.parse(all)).toMatchObject({ choices: [{ message: { content: 'answer 1' } }] });
  });

  test('receives comments before a stream, not empty events', async () => {
    const { all, type } = await heard({ messages: [user('Q')], stream: true }, ': waiting\n\n');
    expect(type).toBe('text/event-stream');
    const others = all.split('\n\n').filter((line) => !['', ': waiting'].includes(line));
    expect(others.every((line) => line.startsWith('data: '))).toBe(true);
    expect(others.at(-1)).toBe('data: [DONE]');
  });

  test('leaves an untrained turn and a free request number when it disconnects', async () => {
    const { server, session, waiting, url } = await beating();
    const gone = new AbortController();
    const asked = fetch(url, post({ messages: [user('Q')] }, { signal: gone.signal }));
    const text = asked.then((response) => response.text());
    await until(() => waiting.length === 1);
    gone.abort();
    await expect(text).rejects.toThrow('aborted');
    await new Promise((resolve) => setTimeout(resolve, 50));
    waiting.pop()!();
    await until(() => session.lostTokens === 7);
    expect(session.tree.nodes).toEqual([]);
    expect(session.failure).toBeUndefined();
    await server.close();
  });
});

test('a session forgets its oldest turns at its token limit and then continues from texts', async () => {
  const { model } = await scriptedModel(counting());
  const session = new Session(
    model,
    rolloutRules({ sampling: undefined, live: true, mostTokens: 120 }),
  );
  const ask = askBy(doorTo(session));
  const first = await ask({ messages: [user('Q')] });
  for (let at = 0; at < 20; at++) await ask({ messages: [user(`other ${at}`)] });
  const sizes = session.tree.nodes.map(({ end, parent }) => end - (parent?.end ?? 0));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(120);
  expect(session.tree.nodes.length).toBeGreaterThan(1);
  const again = await ask({ messages: [user('Q'), said(first), user('more')] });
  expect(again.status).toBe(200);
  expect(session.tree.nodes.at(-1)?.parent?.id).toBeUndefined();
});
