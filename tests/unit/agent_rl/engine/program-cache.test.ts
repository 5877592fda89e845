import { expect, test } from '@jest/globals';
import type { Program } from '#agent_rl/engine/engine.ts';
import { bucketSize, ProgramCache } from '#agent_rl/engine/program-cache.ts';
import { sameData } from '#agent_rl/engine/same-data.ts';
import { assert, integer, property } from '#tests/support/properties.ts';

const named = (name: string, log: string[]) => (): Promise<Program> => {
  log.push(`made ${name}`);
  return Promise.resolve({
    outputs: [],
    run: async () => ({}),
    dispose: async () => void log.push(`disposed ${name}`),
  });
};

test('ProgramCache makes a program once per key, also for two that ask at the same time', async () => {
  const [cache, log] = [new ProgramCache(2), [] as string[]];
  const get = () => cache.get('a', named('a', log));
  const [first, second] = await Promise.all([get(), get()]);
  expect([second, await get()]).toEqual([first, first]);
  expect(log).toEqual(['made a']);
});

test('ProgramCache disposes the least recently used program when full', async () => {
  const [cache, log] = [new ProgramCache(2), [] as string[]];
  await cache.get('a', named('a', log));
  await cache.get('b', named('b', log));
  await cache.get('a', named('a', log));
  await cache.get('c', named('c', log));
  expect(log).toEqual(['made a', 'made b', 'disposed b', 'made c']);
  expect(cache.size).toBe(2);
});

test('ProgramCache disposes everything when cleared', async () => {
  const [cache, log] = [new ProgramCache(2), [] as string[]];
  await cache.get('a', named('a', log));
  await cache.clear();
  expect(log).toEqual(['made a', 'disposed a']);
  expect(cache.size).toBe(0);
});

test('ProgramCache forgets a program that could not be made', async () => {
  const [cache, log] = [new ProgramCache(1), [] as string[]];
  const failing = cache.get('a', () => Promise.reject(new RangeError('no')));
  await expect(failing).rejects.toThrow('no');
  await cache.get('a', named('a', log));
  expect(log).toEqual(['made a']);
});

test('ProgramCache refuses to hold no program', () => {
  expect(() => new ProgramCache(0)).toThrow('at least 1 program, got a capacity of 0');
});

test.each([
  [0, 16],
  [16, 16],
  [17, 32],
  [65, 80],
  [81, 112],
  [113, 144],
])('bucketSize rounds %i in multiples of 16 to %i', (n, bucket) => {
  expect(bucketSize(n, { multipleOf: 16 })).toBe(bucket);
});

test('bucketSize holds n, is a multiple, and is a bucket itself', () => {
  assert(
    property(integer({ min: 0, max: 100_000 }), integer({ min: 1, max: 64 }), (n, m) => {
      const bucket = bucketSize(n, { multipleOf: m });
      expect(bucket).toBeGreaterThanOrEqual(n);
      expect(bucket % m).toBe(0);
      expect(bucketSize(bucket, { multipleOf: m })).toBe(bucket);
      expect(bucket).toBeLessThanOrEqual(Math.max(1.25 * n, n + m) + m);
    }),
  );
});

test('bucketSize refuses a growth of 1, which would never end', () => {
  expect(() => bucketSize(5, { multipleOf: 4, growth: 1 })).toThrow('growth > 1');
});

test('sameData compares the bytes of arrays, whatever their memory and offset', () => {
  const own = Float32Array.of(0, 1, 2, 1, 2);
  expect(sameData(own, own)).toBe(true);
  expect(sameData(own.subarray(1, 3), own.subarray(3))).toBe(true);
  expect(sameData(own.subarray(0, 2), own.subarray(1, 3))).toBe(false);
  expect(sameData(own.subarray(0, 2), own.subarray(0, 3))).toBe(false);
  expect(sameData(own, Float32Array.from(own))).toBe(true);
  expect(sameData(Float32Array.of(0), Float32Array.of(-0))).toBe(false);
});
