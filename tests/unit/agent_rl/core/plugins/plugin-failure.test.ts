import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { WrongValue } from '#agent_rl/core/failure.ts';
import { pluginFailure } from '#agent_rl/core/plugins/plugin-failure.ts';

/** As Node's fetch throws where nothing listens: the second without a text, since it tried two addresses. */
const refused = new Error('connect ECONNREFUSED 127.0.0.1:8100');
const tried = Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' });

describe('The message of a plugin failure', () => {
  test.each([
    [new TypeError('fetch failed', { cause: refused }), 'fetch failed: connect ECONNREFUSED 127.'],
    [new TypeError('fetch failed', { cause: tried }), 'fetch failed: ECONNREFUSED'],
    [new Error('It said: busy', { cause: new Error('busy') }), 'It said: busy'],
    ['a text', 'a text'],
  ])('includes the cause of %p once', (thrown, said) => {
    const { message, cause } = pluginFailure('Tool "mine"', thrown, { method: 'call' });
    expect(message).toMatch(/^Tool "mine" failed in call/);
    expect(message).toContain(`: ${said}`);
    expect(message.endsWith('busy: busy')).toBe(false);
    expect(cause).toBe(thrown);
  });

  test('names the file of a plugin that returned an invalid value', () => {
    const wrong = new WrongValue('its score is NaN');
    const said = (source: string) => pluginFailure('Reward "mine"', wrong, { source }).message;
    expect(said(join(process.cwd(), 'plugins', 'mine.ts'))).toBe(
      `Reward "mine" failed (${join('plugins', 'mine.ts')}): its score is NaN`,
    );
    expect(said('agent-rl-acme')).toBe('Reward "mine" failed (agent-rl-acme): its score is NaN');
    expect(said('built in')).toBe('Reward "mine" failed: its score is NaN');
    const thrown = pluginFailure('Reward "mine"', new Error('gone'), { source: '/mine.ts' });
    expect(thrown.message).toMatch(/failed \(.*plugin-failure\.test\.ts:\d+:\d+\): gone$/);
  });

  test('handles circular causes', () => {
    const [one, other] = [new Error('one'), new Error('other')];
    one.cause = other;
    other.cause = one;
    expect(pluginFailure('Tool "mine"', one).message).toMatch(/: one: other$/);
  });
});
