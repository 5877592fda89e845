import { describe, expect, test } from '@jest/globals';

import { closedAfterEach } from '#tests/support/closed-after-each.ts';
import {
  countdown,
  failure,
  observation,
  openEnvDouble,
  saying,
  type Says,
} from '#tests/support/openenv-double.ts';
import { openEnvAt } from '#tests/support/openenv-episodes.ts';
import { says, type Script } from '#tests/support/scripted-policy.ts';

const opened = closedAfterEach();
const at = openEnvAt(opened);

describe('A server in trouble', () => {
  const stepping =
    (step: Says): Says =>
    (message, socket) =>
      message.type === 'step' ? step(message, socket) : countdown(message, socket);

  test.each<[string, Says, RegExp]>([
    ['is silent', () => undefined, /did not answer step within 0\.2 s \(environment\.stepS\)/],
    ['says no JSON', () => 'hello', /said "hello"; expected a message of type observation/],
    [
      'says another type',
      () => ({ type: 'state', data: {} }),
      /expected a message of type observation/,
    ],
    ['pays no number', () => observation({}, 'much' as never), /the reward "much"/],
    [
      'goes',
      (_, socket) => {
        socket.terminate();
        return undefined;
      },
      /closed the connection \(1006\)/,
    ],
    [
      'sends 11 MB',
      () => observation({ text: 'x'.repeat(11 * 2 ** 20) }),
      /Max payload size exceeded/,
    ],
    ['fails', () => failure('EXECUTION_ERROR', 'boom'), /the server failed: EXECUTION_ERROR boom/],
    ['loses the session', () => failure('SESSION_ERROR', 'lost'), /lost/],
  ])('an episode has no reward and a reason where the server %s', async (_, step, words) => {
    const { episode } = await at(stepping(step), { stepS: 0.2 });
    const { rollout } = await episode({ script: saying('x') });
    expect(rollout.outcome).toBe('infrastructure-error');
    expect(rollout.problem).toMatch(words);
  });

  test('an episode has no reward where the server speaks unasked', async () => {
    const { episode } = await at(
      stepping((message, socket) => {
        socket.send(JSON.stringify(observation({ text: 'x' }, 100)));
        return countdown(message, socket);
      }),
    );
    const script: Script = async ({ key: { turn } }) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return saying('one', 'last')({ key: { turn } } as never, []);
    };
    const { rollout } = await episode({ script });
    expect(rollout.outcome).toBe('infrastructure-error');
    expect(rollout.problem).toMatch(/expected a message of type error, before it was asked/);
  });

  test('an episode goes on after an exception of the server in a call, and keeps its reward', async () => {
    const action = { properties: { x: {}, y: {} } };
    const server = await openEnvDouble(({ type, data }) => {
      if (type === 'state') return { type, data: {} };
      if (type === 'reset') return observation({ text: 'go' });
      return data?.['x'] === -1 ? failure('EXECUTION_ERROR', 'boom') : observation({}, 0.5, true);
    }, action);
    opened.push(server);
    const { episode } = await at(server, { solvedAt: 0.5 });
    const script: Script = ({ key: { turn } }) => ({ message: says('', ['act', { x: turn - 1 }]) });
    const { episode: played } = await episode({ script });
    expect(played.calls.map(({ status, problem }) => [status, problem ?? ''])).toEqual([
      ['error', expect.stringContaining('EXECUTION_ERROR boom')],
      ['ok', ''],
    ]);
    expect(played).toMatchObject({ reward: 0.5, success: true, metrics: { steps: 2, rewards: 1 } });
  });

  test('an episode whose session is lost in a call may be tried again', async () => {
    const server = await openEnvDouble(
      ({ type }, socket) => {
        if (type !== 'step') return observation({ text: 'go' });
        socket.terminate();
        return undefined;
      },
      { properties: { x: {}, y: {} } },
    );
    opened.push(server);
    const { episode } = await at(server);
    const script: Script = () => ({ message: says('', ['act', { x: 1 }]) });
    const { rollout } = await episode({ script, limits: { retries: 2 } });
    expect(rollout).toMatchObject({
      outcome: 'infrastructure-error',
      failure: { owner: 'host', retryable: true },
    });
    expect(rollout.problem).toMatch(/closed the connection \(1006\)/);
  });

  test('an episode of turns has no reward without a verdict of the server', async () => {
    const messages = [{ role: 'user', content: 'go' }];
    const server = await openEnvDouble(
      ({ type }) => {
        if (type === 'state') return { type, data: {} };
        return observation({ messages }, 0, type === 'step');
      },
      { title: 'AgentRlTurn', properties: { content: {} } },
    );
    opened.push(server);
    const { rollout } = await (await at(server)).episode({ script: saying('x') });
    expect(rollout).toMatchObject({
      outcome: 'grader-error',
      problem: expect.stringMatching(/without a verdict/),
    });
    const odd = await openEnvDouble(
      () => observation({ messages: [{ role: 'assistant', content: 'x' }] }),
      {
        title: 'AgentRlTurn',
        properties: { content: {} },
      },
    );
    opened.push(odd);
    const { rollout: other } = await (await at(odd)).episode({ script: saying('x') });
    expect(other.problem).toMatch(/expected messages of system, user or tool/);
  });

  test('an episode fails where the server ends it without a reward, and is counted where the policy ends it', async () => {
    const said: string[] = [];
    const silent: Says = ({ type, data }) =>
      type === 'state'
        ? { type, data: {} }
        : observation({ text: 'x' }, null, data?.['text'] === 'last');
    const { episode, server } = await at(silent, {}, (text) => said.push(text));
    const { rollout } = await episode({ script: saying('last') });
    expect(rollout).toMatchObject({
      outcome: 'grader-error',
      problem: expect.stringMatching(/ended the episode without a reward/),
    });
    const early = await episode({ script: saying('a', 'b'), limits: { maxTurns: 1 } });
    expect(early.episode.reward).toBe(0);
    expect(said).toEqual([expect.stringMatching(/gave no reward in any step of an episode/)]);
    expect(server.report()).toMatchObject({ unrewarded: 1 });
  });

  test('an episode that is over when it is reset fails', async () => {
    const { episode } = await at(() => observation({ text: 'x' }, 1, true));
    const { rollout } = await episode({ script: saying('x') });
    expect(rollout.problem).toMatch(/the episode is over when it is reset/);
  });

  test('an episode fails where the observation has none of the fields to be shown', async () => {
    const { episode } = await at(countdown, { show: ['board'] });
    const { rollout } = await episode({ script: saying('x') });
    expect(rollout.problem).toMatch(
      /the observation has none of board \(environment\.show\); it has text, metadata/,
    );
  });

  test('an episode may be tried again where the server is not there', async () => {
    const server = await openEnvDouble(countdown);
    const { episode } = await at(server);
    await server.close();
    const { rollout } = await episode({ script: saying('x') });
    expect(rollout).toMatchObject({ failure: { owner: 'host', retryable: true } });
    expect(rollout.problem).toMatch(/cannot be reached/);
  });
});
