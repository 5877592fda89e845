import { expect, test } from '@jest/globals';

import { PrefixCache, type PrefixCacheLimits } from '#agent_rl/generation/prefix-cache.ts';

/** Asks for prefixes named by their first token, or forgets all, and says which were computed. */
type Asked = readonly (readonly [number, number] | 'clear')[];
async function computedOf(limits: PrefixCacheLimits, asked: Asked) {
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
const two = { prefixes: 2, tokens: 100 };
const long = [...of(4, 1), ...of(30, 2, 2), ...of(4, 1)];
const forgotten = [...of(4, 1, 2), 'clear' as const, ...of(4, 1, 2, 1, 2)];
test.each([
  ['computes one once, until others take its place', two, of(5, 1, 2, 1, 3, 1, 2, 3), '12323'],
  ['holds at most its limit of tokens', limits, of(4, 1, 2, 3, 3, 2, 1), '1231'],
  ['keeps the newest prefix, even one longer than the limit', limits, long, '121'],
  ['counts nothing that it forgot', limits, forgotten, '1212'],
])('the cache of prefixes %s', async (_, most, asked, computed) => {
  expect((await computedOf(most, asked)).join('')).toBe(computed);
});

test('the cache computes a failed prefix again on the next request', async () => {
  const cache = new PrefixCache({ prefixes: 2, tokens: 100 });
  await expect(cache.get([1, 2], () => Promise.reject(new Error('busy')))).rejects.toThrow('busy');
  const prefix = { length: 2, keys: [], values: [] };
  expect(await cache.get([1, 2], () => Promise.resolve(prefix))).toBe(prefix);
});
