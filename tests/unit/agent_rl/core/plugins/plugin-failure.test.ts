import { describe, expect, test } from '@jest/globals';

import { pluginFailure } from '#agent_rl/core/plugins/plugin-failure.ts';

/** As Node's fetch throws where nothing listens: the second without a text, since it tried two addresses. */
const refused = new Error('connect ECONNREFUSED 127.0.0.1:8100');
const tried = Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' });

describe('the message of a plugin that failed', () => {
  test.each([
    [new TypeError('fetch failed', { cause: refused }), 'fetch failed: connect ECONNREFUSED 127.'],
    [new TypeError('fetch failed', { cause: tried }), 'fetch failed: ECONNREFUSED'],
    [new Error('It said: busy', { cause: new Error('busy') }), 'It said: busy'],
    ['a text', 'a text'],
  ])('says what caused %p, and nothing twice', (thrown, said) => {
    const { message, cause } = pluginFailure('Tool "mine"', thrown, 'call');
    expect(message).toMatch(/^Tool "mine" failed in call/);
    expect(message).toContain(`: ${said}`);
    expect(message.endsWith('busy: busy')).toBe(false);
    expect(cause).toBe(thrown);
  });

  test('ends where causes go round in a circle', () => {
    const [one, other] = [new Error('one'), new Error('other')];
    one.cause = other;
    other.cause = one;
    expect(pluginFailure('Tool "mine"', one).message).toMatch(/: one: other$/);
  });
});
