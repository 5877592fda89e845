import { expect, test } from '@jest/globals';

import { Remembered } from '#agent_rl/core/collections/remembered.ts';

test('the value of a key is reused until there are too many keys', () => {
  const known = new Remembered<string>(2);
  let made = 0;
  const get = (key: string): string => known.get(key, () => `${key}${(made += 1)}`);
  expect([get('a'), get('b'), get('a'), get('b')]).toEqual(['a1', 'b2', 'a1', 'b2']);
  expect([get('c'), get('a'), get('c')]).toEqual(['c3', 'a4', 'c3']);
});

test('a failure is not cached', () => {
  const known = new Remembered<number>(2);
  const fail = (): number => {
    throw new Error('not now');
  };
  expect(() => known.get('a', fail)).toThrow('not now');
  expect(known.get('a', () => 7)).toBe(7);
});
