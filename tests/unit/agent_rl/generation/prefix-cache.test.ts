import { expect, test } from '@jest/globals';

import { PrefixCache, type PrefixCacheLimits } from '#agent_rl/generation/prefix-cache.ts';

/** Asks for prefixes named by their first token, or forgets all, and says which were computed. */
async function computedOf(
  limits: PrefixCacheLimits,
  asked: readonly (readonly [number, number] | 'clear')[],
) {
  const cache = new PrefixCache(limits);
  const computed: number[] = [];
  for (const one of asked) {
    if (one === 'clear') {
      cache.clear();
      continue;
    }
    const [name, length] = one;
    const tokens = Array.from({ length }, () => name);
    const prefix = await cache.get(tokens, async () => {
      computed.push(name);
      return { length, keys: [], values: [] };
    });
    expect(prefix.length).toBe(length);
  }
  return computed;
}

const limits = { prefixes: 64, tokens: 10 };
const of = (length: number, ...names: number[]) => names.map((name) => [name, length] as const);
test.each([
  [
    'computes a prefix once, until later ones take its place',
    { prefixes: 2, tokens: 100 },
    of(5, 1, 2, 1, 3, 1, 2, 3),
    [1, 2, 3, 2, 3],
  ],
  ['holds at most its limit of tokens', limits, of(4, 1, 2, 3, 3, 2, 1), [1, 2, 3, 1]],
  [
    'keeps the newest prefix, even one longer than the limit',
    limits,
    [...of(4, 1), ...of(30, 2, 2), ...of(4, 1)],
    [1, 2, 1],
  ],
  [
    'counts nothing that it forgot',
    limits,
    [...of(4, 1, 2), 'clear' as const, ...of(4, 1, 2, 1, 2)],
    [1, 2, 1, 2],
  ],
])('the cache of prefixes %s', async (_, most, asked, computed) => {
  expect(await computedOf(most, asked)).toEqual(computed);
});

test('the cache computes a failed prefix again on the next request', async () => {
  const cache = new PrefixCache({ prefixes: 2, tokens: 100 });
  await expect(cache.get([1, 2], () => Promise.reject(new Error('busy')))).rejects.toThrow('busy');
  const prefix = { length: 2, keys: [], values: [] };
  expect(await cache.get([1, 2], () => Promise.resolve(prefix))).toBe(prefix);
});
