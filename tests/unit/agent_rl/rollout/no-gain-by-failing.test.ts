import { expect, test } from '@jest/globals';

import { echoing, play, type Setting } from '#tests/support/play-episode.ts';
import { says, type Script } from '#tests/support/scripted-policy.ts';

/*
 * What a policy can do wrong on purpose, and what it has of it: whatever it does, it stays in its group with the reward
 * that its environment gives. None of these ways leads out of a group that it would lose in.
 */

const wrong = { outcome: 'wrong-answer', reward: 0, components: {}, success: false } as const;
const lost = async () => wrong;

/** Does one thing, then answers. */
const once =
  (turn: object): Script =>
  ({ key }) => ({ message: says('done'), ...(key.turn === 0 && turn) });
const malformedCalls = [{ id: 'call_0_0', text: '{', problem: 'not JSON' }];
const unreadable = { ...says(''), malformedCalls };
const calls = (...call: Parameters<typeof says>[1][]) => ({ message: says('', ...call) });

const overflows = (): never => {
  throw new RangeError('Maximum call stack size exceeded');
};
const throwsNull = (): never => {
  // oxlint-disable-next-line no-throw-literal -- a plugin may
  throw null;
};

const ways: readonly [name: string, setting: Setting][] = [
  ['answers nothing', { script: once({ message: says('') }) }],
  ['writes a call that cannot be read', { script: once({ message: unreadable }) }],
  ['calls a tool that is not there', { script: once(calls(['ech', {}])) }],
  ['gives no arguments', { script: once(calls(['echo', {}])) }],
  ['gives arguments of another type', { script: once(calls(['echo', { text: 1 }])) }],
  [
    'gives names from a prototype as arguments',
    { script: once(calls(['echo', JSON.parse('{"text":"x","__proto__":{"a":1}}') as never])) },
  ],
  ['makes a tool throw', { script: echoing(), tool: overflows }],
  ['makes a tool throw something else than an error', { script: echoing(), tool: throwsNull }],
  ['makes a tool answer with nothing', { script: echoing(), tool: () => undefined }],
  ['makes a tool print too much', { script: echoing(), limits: { maxEpisodeTokens: 8 } }],
  ['calls endlessly', { script: () => calls(['echo', { text: 'x' }]) }],
  ['makes endless invalid calls', { script: () => calls(['ech', {}]) }],
  ['fills its turn', { script: () => ({ message: says('and so on'), stop: 'max-tokens' }) }],
  ['fills the context', { script: () => ({ message: says('and so on'), stop: 'context-full' }) }],
];

test.each(ways)('A policy gains nothing when it %s', async (_, setting) => {
  const { episode } = await play({ ...setting, environment: { finish: lost } });
  expect(episode).toMatchObject({ reward: 0, success: false });
  expect(episode.failure).toBeUndefined();
});
