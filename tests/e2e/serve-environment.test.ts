import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { closedAfterEach } from '../support/closed-after-each.ts';
import { openEnvEpisodes } from '../support/openenv-episodes.ts';
import { question } from '../support/question-run.ts';
import { says, type Script } from '../support/scripted-policy.ts';
import { rawClient, servedEnvironment } from '../support/served-environment.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';

const folder = temporaryFolder();
const opened = closedAfterEach();
writeBelow(folder, 'tasks/train.jsonl', question('7') + question('8') + question('9'));
writeBelow(folder, 'tasks/eval.jsonl', question('10'));

const file = (changes: object = {}, name = 'run.yaml') =>
  writeBelow(
    folder,
    name,
    JSON.stringify({
      model: { path: 'model/search-starter' },
      tools: [{ type: 'calculator' }],
      environment: { type: 'question', match: 'whole', turnLimitPenalty: 0.25 },
      datasets: [{ dir: join(folder, 'tasks') }],
      rollout: { maxTurns: 3, invalidCallPenalty: 0.5 },
      ...changes,
    }),
  );

async function served(more: Parameters<typeof servedEnvironment>[1] = {}, changes: object = {}) {
  const server = await servedEnvironment(file(changes), more);
  opened.push({ close: async () => void (await server.close()) });
  return server;
}
const step = (data: object) => ({ type: 'step', data });
const reset = (data: object = {}) => ({ type: 'reset', data });

describe('A served environment', () => {
  test('plays a task by id, tells the results of calls, and judges the last message', async () => {
    const { url } = await served();
    const client = await rawClient(url);
    opened.push(client);
    const first = await client.ask(reset({ task_id: '8', episode_id: 'e1' }));
    expect(first).toEqual({
      type: 'observation',
      data: {
        observation: { messages: [{ role: 'user', content: 'What is 8?' }] },
        reward: null,
        done: false,
      },
    });
    const calls = [
      { name: 'calculator', arguments: { expression: '4+4' } },
      { name: 'calculator', arguments: { expression: 'four' } },
      { name: 'nothing', arguments: {} },
    ];
    const called = await client.ask(step({ content: 'Let me see.', tool_calls: calls }));
    expect(called.data).toMatchObject({
      observation: {
        messages: [
          { role: 'tool', name: 'calculator', call_id: 'call_0_0', content: '8', is_error: false },
          { call_id: 'call_0_1', is_error: true },
          {
            call_id: 'call_0_2',
            content: expect.stringMatching(/there is no tool named "nothing"/),
          },
        ],
      },
      done: false,
    });
    const last = await client.ask(step({ content: '8' }));
    expect(last.data).toMatchObject({
      observation: { messages: [], verdict: { outcome: 'completed', success: true } },
      reward: 1,
      done: true,
    });
    const state = { episode_id: 'e1', step_count: 2, task_id: '8' };
    expect(await client.ask({ type: 'state' })).toEqual({ type: 'state', data: state });
    expect(await client.ask(step({ content: 'more' }))).toMatchObject({
      type: 'error',
      data: { code: 'EXECUTION_ERROR', message: 'The episode is over. Reset the environment.' },
    });
    expect((await client.ask(reset({ seed: 4 }))).data).toMatchObject({
      observation: { messages: [{ content: 'What is 8?' }] },
    });
  });

  test('describes turns and tools in its schema, and is healthy', async () => {
    const { url } = await served();
    const get = async (path: string) => (await fetch(url + path)).json();
    expect(await get('/health')).toEqual({ status: 'healthy' });
    expect(await get('/metadata')).toMatchObject({ name: 'question' });
    const { action } = (await get('/schema')) as {
      action: { properties: Record<string, unknown> };
    };
    expect(action.properties['tool_calls']).toMatchObject({
      items: { anyOf: [{ properties: { name: { const: 'calculator' } } }] },
    });
  });

  test('refuses invalid messages, tasks and turns, and the session lives on', async () => {
    const { url } = await served();
    const client = await rawClient(url);
    opened.push(client);
    const refusals: [object | string, string, RegExp][] = [
      ['{', 'INVALID_JSON', /^Invalid JSON/],
      [{ type: 'dance' }, 'UNKNOWN_TYPE', /"dance"/],
      [step({ content: 'early' }), 'EXECUTION_ERROR', /Send a reset first/],
      [reset({ task_id: 'none' }), 'EXECUTION_ERROR', /There is no task "none"/],
      [reset({ seed: -1 }), 'EXECUTION_ERROR', /seed is -1/],
      [step({ text: 'x' }), 'VALIDATION_ERROR', /^Invalid message: .*content/],
      [`${'['.repeat(5000)}${']'.repeat(5000)}`, 'INVALID_JSON', /nests lists and objects/],
      [reset({ episode_id: 'x'.repeat(300) }), 'VALIDATION_ERROR', /at most 255/],
      [{ type: 'step', data: 3 }, 'VALIDATION_ERROR', /must be an object/],
    ];
    for (const [message, code, words] of refusals) {
      const { type, data } = await client.ask(message);
      expect([type, data['code']]).toEqual(['error', code]);
      expect(data['message']).toMatch(words);
    }
    expect((await client.ask(reset({ task_id: null, seed: null }))).type).toBe('observation');
  });

  test('refuses a session beyond its capacity, and takes one when another has left', async () => {
    const { url, close } = await served({ requests: 1 });
    const one = await rawClient(url);
    await one.ask(reset());
    const other = await rawClient(url);
    expect(await other.next()).toMatchObject({
      type: 'error',
      data: { code: 'CAPACITY_REACHED', active_sessions: 1, max_sessions: 1 },
    });
    expect(await other.closed).toBe(1005);
    await one.ask({ type: 'state' });
    await one.close();
    await one.closed;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const third = await rawClient(url);
    expect((await third.ask(reset())).type).toBe('observation');
    expect(await close()).toMatchObject({ environment: 'question', sessions: 2, refused: 1 });
  });

  test('survives refused connections that are reset or kept open, and closes beside them', async () => {
    process.env['TEST_ENV_KEY'] = 'a-key-of-the-test';
    const { url, close } = await servedEnvironment(file(), { apiKeyEnv: 'TEST_ENV_KEY' });
    const { port } = new URL(url);
    const ask = () => {
      const socket = connect({ port: Number(port), allowHalfOpen: true });
      socket.on('error', () => undefined);
      socket.write(
        `GET /ws HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n`,
      );
      return socket;
    };
    const gone = ask();
    await once(gone, 'data');
    gone.resetAndDestroy();
    const kept = ask();
    const [said] = (await once(kept, 'data')) as [Buffer];
    expect(said.toString()).toMatch(/^HTTP\/1\.1 401 Unauthorized/);
    expect(await close()).toMatchObject({ sessions: 0 });
    kept.destroy();
  });

  test('leaves no episode behind where a client resets twice and goes', async () => {
    const { url, close } = await servedEnvironment(file());
    const client = await rawClient(url);
    void client.ask(reset());
    void client.ask(reset());
    await client.close();
    await client.closed;
    const { episodes } = (await close()) as { episodes: number };
    expect(episodes).toBeLessThanOrEqual(2);
  });

  test('names calls without a number at their end by their place', async () => {
    const { url } = await served();
    const client = await rawClient(url);
    opened.push(client);
    await client.ask(reset());
    const call = { name: 'calculator', arguments: { expression: '1+1' } };
    const turn = { content: '', tool_calls: [{ id: 'call_abc', ...call }, call] };
    expect((await client.ask(step(turn))).data['observation']).toMatchObject({
      messages: [{ call_id: 'call_0_0' }, { call_id: 'call_0_1' }],
    });
  });

  test('closes a session that is silent, and one that floods', async () => {
    const { url } = await served({ timeoutS: 0.3 });
    const silent = await rawClient(url);
    expect(await silent.closed).toBe(1001);
    const flood = await rawClient(url);
    for (let index = 0; index < 40; index++) void flood.ask({ type: 'state' });
    expect(await flood.closed).toBe(1008);
  });

  test('answers its own page and clients with the key only', async () => {
    process.env['TEST_ENV_KEY'] = 'a-key-of-the-test';
    const { url } = await served({ apiKeyEnv: 'TEST_ENV_KEY' });
    await expect(rawClient(url)).rejects.toThrow(/401/);
    const key = { authorization: 'Bearer a-key-of-the-test' };
    await expect(rawClient(url, { ...key, origin: 'http://evil.example' })).rejects.toThrow(/403/);
    expect((await fetch(`${url}/schema`)).status).toBe(401);
    const client = await rawClient(url, key);
    opened.push(client);
    expect((await client.ask(reset())).type).toBe('observation');
    await expect(rawClient(`${url}/other`, key)).rejects.toThrow(/404/);
  });

  test('is refused on an open address without a key, for several agents, and for tools that differ', async () => {
    expect((await rejectionOf(servedEnvironment(file(), { host: '0.0.0.0' }))).message).toMatch(
      /^An environment served on 0\.0\.0\.0 answers every client/,
    );
    const several = join(packageRoot(), 'configs', 'word_game_grpo.yaml');
    expect((await rejectionOf(servedEnvironment(several))).message).toMatch(
      /^environment word_game cannot be served: .* has several agents\.$/,
    );
    const bringing = join(packageRoot(), 'configs', 'recipes', 'smollm2_toolbox_grpo.yaml');
    expect((await rejectionOf(servedEnvironment(bringing))).message).toMatch(
      /^environment toolbox cannot be served: .* has other tools in each episode\.$/,
    );
  });
});

describe('The environment openenv over a served one', () => {
  const script: Script = ({ key: { turn } }) => {
    const calls = [
      { id: 'call_0_0', name: 'calculator', arguments: { expression: '4+4' } },
      { id: 'call_0_2', name: 'calculator', arguments: { wrong: 1 } },
    ];
    const malformedCalls = [{ id: 'call_0_1', text: '{', problem: 'no JSON' }];
    const message = { role: 'assistant' as const, content: '', toolCalls: calls, malformedCalls };
    return turn === 0 ? { message } : { message: says('8') };
  };

  test('has its tools, its results of good, wrong and unreadable calls, and its verdict', async () => {
    const { url } = await served();
    const episodes = await openEnvEpisodes(url);
    opened.push(episodes);
    expect(episodes.tools).toMatchObject([
      { name: 'calculator', parameters: { required: ['expression'] } },
    ]);
    const { episode } = await episodes.episode({ script }, { task_id: '8' });
    expect(episode.messages.map(({ role, content }) => [role, content.slice(0, 40)])).toEqual([
      ['user', 'What is 8?'],
      ['assistant', ''],
      ['tool', '8'],
      ['tool', 'Error: the call could not be read: no JS'],
      ['tool', 'Error: invalid arguments for calculator:'],
      ['assistant', '8'],
    ]);
    expect(episode).toMatchObject({
      reward: 1,
      success: true,
      answer: '8',
      components: { success: 1 },
    });
  });

  test.each([
    ['the server’s limit of turns', 9, -0.25, 'truncated-turns'],
    ['the client’s', 2, 0, 'truncated-turns'],
  ])('ends by %s, and is judged', async (_, maxTurns, reward, outcome) => {
    const { url } = await served();
    const episodes = await openEnvEpisodes(url);
    opened.push(episodes);
    const calling: Script = () => ({ message: says('', ['calculator', { expression: '1' }]) });
    const { episode } = await episodes.episode(
      { script: calling, limits: { maxTurns } },
      { task_id: '8' },
    );
    expect([episode.reward, episode.outcome]).toEqual([reward, outcome]);
  });
});
