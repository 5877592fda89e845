import { describe, expect, test } from '@jest/globals';

import { environments } from '#agent_rl/core/plugins/environment.ts';
import { OpenEnvEnv } from '#agent_rl/environments/openenv/openenv-env.ts';
import { OpenEnvServer } from '#agent_rl/environments/openenv/openenv-server.ts';
import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import {
  countdown,
  failure,
  observation,
  openEnvDouble,
  saying,
  type Says,
  textAction,
} from '#tests/support/openenv-double.ts';
import { openEnvAt } from '#tests/support/openenv-episodes.ts';
import { says, type Script } from '#tests/support/scripted-policy.ts';

const opened = closedAfterEach();
const at = openEnvAt(opened);

describe('An environment on a server', () => {
  test('is played by text: its observations are messages, its rewards add up, and its state is recorded', async () => {
    const { episode } = await at(countdown);
    const { episode: played } = await episode({ script: saying('one', 'last') }, { seed: 7 });
    expect(played.messages.map(({ content }) => content)).toEqual([
      'from 7',
      'one',
      'heard one',
      'last',
    ]);
    expect(played).toMatchObject({
      reward: 1,
      success: true,
      outcome: 'completed',
      components: { environment: 1 },
      metrics: { steps: 2, rewards: 2 },
      record: { openenv: { step_count: 2 } },
    });
  });

  test('has the prompt of the task before what the server says, and a system prompt before both', async () => {
    const { episode } = await at(countdown, { systemPrompt: 'Play.' });
    const { episode: played } = await episode({ script: saying('last') }, { seed: 1 }, 'Count.');
    expect(played.messages.slice(0, 3)).toEqual([
      { role: 'system', content: 'Play.' },
      { role: 'user', content: 'Count.' },
      { role: 'user', content: 'from 1' },
    ]);
  });

  test('shows the fields that are asked for, and several as JSON', async () => {
    const server = await openEnvDouble(({ type }) =>
      type === 'reset'
        ? observation({ a: 1, b: 'two', metadata: { c: 3 } })
        : observation({}, 1, true),
    );
    opened.push(server);
    const first = async (over: object) =>
      (await (await at(server, over)).episode({ script: saying() })).episode.messages[0]?.content;
    expect(await first({})).toBe('{"a":1,"b":"two"}');
    expect(await first({ show: ['b'] })).toBe('two');
    expect(await first({ show: ['a', 'metadata'] })).toBe('{"a":1,"metadata":{"c":3}}');
  });

  test('is played by the tool act where an action has several fields, which ends when the server says so', async () => {
    const action = {
      title: 'Move',
      description: 'A move.',
      properties: { x: { type: 'integer' }, y: { type: 'integer' }, metadata: {} },
      required: ['x'],
    };
    const seen: unknown[] = [];
    const double: Says = ({ type, data }) => {
      if (type === 'step') seen.push(data);
      return type === 'state'
        ? { type, data: {} }
        : observation({ text: type }, 1, type === 'step');
    };
    const server = await openEnvDouble(double, action);
    opened.push(server);
    const { episode, tools } = await at(server);
    expect(tools).toMatchObject([
      {
        name: 'act',
        description: 'Acts in the environment. A move.',
        parameters: { required: ['x'], properties: { x: {}, y: {} } },
      },
    ]);
    expect(tools[0]?.parameters).not.toHaveProperty('properties.metadata');
    const { episode: played } = await episode({
      script: () => ({
        message: {
          ...says('', ['act', { x: 1 }]),
          toolCalls: [0, 1].map((index) => ({
            id: `call_0_${index}`,
            name: 'act',
            arguments: { x: index },
          })),
        },
      }),
    });
    expect(seen).toEqual([{ x: 0 }]);
    expect(played.calls.map(({ result }) => result.content)).toEqual([
      'step',
      'Error: the episode is over.',
    ]);
    expect(played.reward).toBe(1);
  });

  test('is played by the tools that it lists, by their names', async () => {
    const action = { properties: { tool_name: {}, arguments: {}, type: {} } };
    const double: Says = ({ type, data }) => {
      if (type === 'state') return { type, data: {} };
      if (data?.['type'] === 'list_tools')
        return observation({
          tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
        });
      if (type === 'reset') return observation({}, null);
      const { at: place } = (data?.['arguments'] ?? {}) as { at?: number };
      if (place === 0)
        return observation({
          result: { content: [{ type: 'text', text: 'a wall' }], is_error: false },
        });
      if (place === 1) return observation({ result: null, error: { message: 'too dark' } });
      return observation({ result: { up: 1 } });
    };
    const server = await openEnvDouble(double, action);
    opened.push(server);
    const { episode, tools } = await at(server);
    expect(tools).toMatchObject([
      { of: 'look', description: 'Looks.', keepsState: true, onInterrupt: 'fail' },
    ]);
    const script: Script = ({ key: { turn } }) => ({
      message: turn < 3 ? says('', ['look', { at: turn }]) : says('done'),
    });
    const { episode: played } = await episode({ script }, {}, 'Look around.');
    expect(
      played.calls.map(({ result: { content, isError = false } }) => [content, isError]),
    ).toEqual([
      ['a wall', false],
      ['Error: too dark', true],
      ['{"up":1}', false],
    ]);
    await expect(
      (await at(server)).episode({ script }).then(({ rollout }) => rollout.problem),
    ).resolves.toMatch(/said nothing when it was reset\. Give the task a prompt/);
  });

  test('takes no turn with a call of another tool for an action', async () => {
    const texts: unknown[] = [];
    const { episode } = await at((message, socket) => {
      if (message.type === 'step') texts.push(message.data?.['text']);
      return countdown(message, socket);
    });
    const script: Script = ({ key: { turn } }) => ({
      message: turn === 0 ? says('', ['other', {}]) : says('last'),
    });
    await episode({ script });
    expect(texts).toEqual(['last']);
  });

  test('answers an action that does not fit, for the policy to read, and goes on', async () => {
    const { episode } = await at(({ type, data }) =>
      data?.['text'] === 'bad'
        ? failure('VALIDATION_ERROR', 'Invalid message')
        : countdown({ type, data: data ?? {} }, undefined as never),
    );
    const { episode: played } = await episode({ script: saying('bad', 'last') });
    expect(played.messages.map(({ content }) => content)).toContain('Error: Invalid message');
    expect(played.reward).toBe(0.5);
  });

  test('waits for a free session, which is said once and counted', async () => {
    const full = (sessions: number) =>
      sessions <= 2 ? failure('CAPACITY_REACHED', '1/1 sessions active') : undefined;
    const server = await openEnvDouble(countdown, textAction, full);
    opened.push(server);
    const said: string[] = [];
    const { episode, server: shared } = await at(server, {}, (text) => said.push(text));
    const script = saying('last');
    const limits = { deadlines: { environmentS: 1, gradingS: 1 } };
    const all = await Promise.all([1, 2].map((seed) => episode({ script, limits }, { seed })));
    expect(all.map(({ episode: { reward } }) => reward)).toEqual([0.5, 0.5]);
    expect(said).toEqual([`${server.url} has no free session; episodes wait up to 600 s.`]);
    expect(shared.report()).toEqual({ episodes: 2, waits: 2, unrewarded: 0 });
  });

  test('is given up when no session is free in capacityS', async () => {
    const server = await openEnvDouble(countdown, textAction, () =>
      failure('CAPACITY_REACHED', '4/4 active'),
    );
    opened.push(server);
    const { episode } = await at(server, { capacityS: 0 });
    const { rollout } = await episode({ script: saying('last') });
    expect(rollout).toMatchObject({
      outcome: 'infrastructure-error',
      failure: { owner: 'host', retryable: true },
    });
    expect(rollout.problem).toMatch(
      /had no free session for 0 s \(environment\.capacityS\): 4\/4 active/,
    );
  });
});

describe('The spec of openenv', () => {
  const { find } = environments.specOf(OpenEnvEnv)!;
  const host = { environment: { GAMES_KEY: 'a-key-of-games' } };

  test('sends the key as a bearer token, and says which variable is missing', async () => {
    const server = await openEnvDouble(countdown);
    opened.push(server);
    const settings = {
      url: server.url,
      apiKeyEnv: 'GAMES_KEY',
      stepS: 1,
      capacityS: 1,
      solvedAt: 1,
    };
    const shared = await OpenEnvServer.open(settings, host);
    const { session } = await shared.begin({}, new AbortController().signal);
    expect(server.asked[0]?.authorization).toBe('Bearer a-key-of-games');
    await shared.end(session);
    await expect(find!(settings, { environment: {} })).rejects.toThrow(
      /GAMES_KEY, which is not set/,
    );
  });

  test('refuses an address that is of no OpenEnv server', async () => {
    const server = await openEnvDouble(countdown, undefined);
    opened.push(server);
    const settings = { url: `${server.url}/elsewhere`, stepS: 1, capacityS: 1, solvedAt: 1 };
    expect(await find!(settings, host)).toEqual([]);
    const withKey = { ...settings, url: 'http://a:b@127.0.0.1:1' };
    await expect(find!(withKey, host)).rejects.toThrow(/^environment\.url contains a password/);
    const bare = await openEnvDouble(countdown, { anyOf: [] });
    opened.push(bare);
    await expect(find!({ ...settings, url: bare.url }, host)).rejects.toThrow(
      /has no properties; expected an object with fields/,
    );
    const other = await openEnvDouble(countdown, null as never);
    opened.push(other);
    await expect(find!({ ...settings, url: other.url }, host)).rejects.toThrow(
      /\/schema answered with status 200 and no action schema\. Set url to the address of an OpenEnv server/,
    );
  });
});
