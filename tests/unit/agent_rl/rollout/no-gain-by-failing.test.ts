import { describe, expect, test } from '@jest/globals';

import { limits, play, type Setting } from '#tests/support/play-episode.ts';
import { says } from '#tests/support/scripted-policy.ts';

/*
 * What a policy can do wrong on purpose, and what it has of it: whatever it does, it stays in its group with the reward
 * that its environment gives. None of these ways leads out of a group that it would lose in.
 */

const lost = async () => ({
  outcome: 'wrong-answer' as const,
  reward: 0,
  components: {},
  success: false,
});

/** Does one thing, then answers. */
const once = (turn: object): Setting['script'] => {
  return ({ key }) => ({ message: says('done'), ...(key.turn === 0 && turn) });
};
const calls = (...call: Parameters<typeof says>[1][]) => ({ message: says('', ...call) });

const ways: readonly [name: string, setting: Setting][] = [
  ['answers nothing', { script: once({ message: says('') }) }],
  [
    'writes a call that cannot be read',
    {
      script: once({
        message: {
          ...says(''),
          malformedCalls: [{ id: 'call_0_0', text: '{', problem: 'not JSON' }],
        },
      }),
    },
  ],
  ['calls a tool that is not there', { script: once(calls(['ech', {}])) }],
  ['gives no arguments', { script: once(calls(['echo', {}])) }],
  ['gives arguments of another type', { script: once(calls(['echo', { text: 1 }])) }],
  [
    'gives names from a prototype as arguments',
    { script: once(calls(['echo', JSON.parse('{"text":"x","__proto__":{"a":1}}') as never])) },
  ],
  [
    'makes a tool throw',
    {
      script: once(calls(['echo', { text: 'x' }])),
      tool: () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
    },
  ],
  [
    'makes a tool throw something else than an error',
    {
      script: once(calls(['echo', { text: 'x' }])),
      tool: () => {
        // oxlint-disable-next-line no-throw-literal -- a plugin may
        throw null;
      },
    },
  ],
  [
    'makes a tool answer with nothing',
    { script: once(calls(['echo', { text: 'x' }])), tool: () => undefined },
  ],
  [
    'makes a tool print more than there is room for',
    {
      script: once(calls(['echo', { text: 'x' }])),
      parts: { limits: { ...limits, maxEpisodeTokens: 8 } },
    },
  ],
  ['calls endlessly', { script: () => calls(['echo', { text: 'x' }]) }],
  ['makes endless invalid calls', { script: () => calls(['ech', {}]) }],
  ['fills its turn', { script: () => ({ message: says('and so on'), stop: 'max-tokens' }) }],
  ['fills the context', { script: () => ({ message: says('and so on'), stop: 'context-full' }) }],
];

describe('A policy gains nothing when it', () => {
  test.each(ways)('%s', async (_, setting) => {
    const { episode } = await play({ ...setting, environment: { finish: lost } });
    expect(episode).toMatchObject({ reward: 0, success: false });
    expect(episode.failure).toBeUndefined();
  });
});
