import { describe, expect, test } from '@jest/globals';

import { PrefixCache, type PrefixCacheLimits } from '#agent_rl/generation/prefix-cache.ts';

/** Asks for prefixes named by their first token, and says which were computed. */
async function computedOf(
  limits: PrefixCacheLimits,
  asked: readonly (readonly [number, number])[],
) {
  const cache = new PrefixCache(limits);
  const computed: number[] = [];
  for (const [name, length] of asked) {
    const tokens = Array.from({ length }, () => name);
    const prefix = await cache.get(tokens, async () => {
      computed.push(name);
      return { length, keys: [], values: [] };
    });
    expect(prefix.length).toBe(length);
  }
  return computed;
}

describe('PrefixCache', () => {
  test('computes a prefix once, until later prefixes take its place', async () => {
    const asked = [1, 2, 1, 3, 1, 2, 3].map((name) => [name, 5] as const);
    expect(await computedOf({ prefixes: 2, tokens: 100 }, asked)).toEqual([1, 2, 3, 2, 3]);
  });

  test('holds at most its limit of tokens, whatever their number of prefixes', async () => {
    const limits = { prefixes: 64, tokens: 10 };
    const four = [1, 2, 3].map((name) => [name, 4] as const);
    expect(await computedOf(limits, [...four, [3, 4], [2, 4], [1, 4]])).toEqual([1, 2, 3, 1]);
  });

  test('keeps the newest prefix, even one longer than the limit', async () => {
    const limits = { prefixes: 64, tokens: 10 };
    expect(
      await computedOf(limits, [
        [1, 4],
        [2, 30],
        [2, 30],
        [1, 4],
      ]),
    ).toEqual([1, 2, 1]);
  });

  test('counts nothing that it forgot', async () => {
    const cache = new PrefixCache({ prefixes: 64, tokens: 10 });
    let computed = 0;
    const get = (name: number) =>
      cache.get([name, name, name, name], async () => {
        computed += 1;
        return { length: 4, keys: [], values: [] };
      });
    await get(1);
    await get(2);
    cache.clear();
    for (const name of [1, 2, 1, 2]) await get(name);
    expect(computed).toBe(4);
  });
});

test('the cache computes a failed prefix again on the next request', async () => {
  const cache = new PrefixCache({ prefixes: 2, tokens: 100 });
  await expect(cache.get([1, 2], () => Promise.reject(new Error('busy')))).rejects.toThrow('busy');
  const prefix = { length: 2, keys: [], values: [] };
  expect(await cache.get([1, 2], () => Promise.resolve(prefix))).toBe(prefix);
});
