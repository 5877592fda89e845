import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { Budget } from '#agent_rl/search/web/budget.ts';
import { rateLimit, rateLimitOf, unlimited } from '#agent_rl/search/web/rate-limit.ts';
import { rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const never = new AbortController().signal;

/** Most starts in any window of a minute, ends excluded: a start and one exactly 60 s later share no window. */
function mostInAMinute(starts: readonly number[]): number {
  const within = (from: number) => starts.filter((at) => at >= from && at < from + 60_000);
  return Math.max(...starts.map((from) => within(from).length));
}

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  jest.useRealTimers();
});

describe('A limit shared by 64 episodes', () => {
  test.each([1, 8, 50])(
    'never lets more than %i requests start in any sliding minute',
    async (limit) => {
      const gate = rateLimit(limit);
      const starts: number[] = [];
      const episode = async (index: number): Promise<void> => {
        // Not all at the same time, so that windows do not line up with the clock.
        await new Promise((resolve) => setTimeout(resolve, index * 997));
        for (let search = 0; search < 2; search++) {
          await gate(never);
          starts.push(Date.now());
          await new Promise((resolve) => setTimeout(resolve, 1500));
        }
      };
      const all = Promise.all(Array.from({ length: 64 }, (_, index) => episode(index)));
      await jest.advanceTimersByTimeAsync((128 / limit + 4) * 60_000);
      await all;
      expect(starts).toHaveLength(128);
      expect(mostInAMinute(starts)).toBe(limit);
      // And not slower than that: the last of 128 starts in window ceil(128 / limit).
      const wholeMs = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
      expect(wholeMs).toBeLessThan(Math.ceil(128 / limit) * 60_000 + 64 * 997);
    },
  );
});

describe('A rate limit', () => {
  test('passes the place of an aborted call to the next', async () => {
    const gate = rateLimit(1);
    const starts: string[] = [];
    const start = async (name: string, signal: AbortSignal): Promise<void> => {
      await gate(signal);
      starts.push(name);
    };
    await start('a', never);
    const givenUp = new AbortController();
    const second = start('b', givenUp.signal);
    const third = start('c', never);
    const reason = new Error('given up');
    givenUp.abort(reason);
    await expect(second).rejects.toBe(reason);
    await jest.advanceTimersByTimeAsync(60_000);
    await third;
    expect(starts).toEqual(['a', 'c']);
  });

  test('applies per key, whichever tool uses it', () => {
    const origin = 'https://a.example';
    const first = rateLimitOf({ origin, secret: 'key-1' }, 8);
    expect(rateLimitOf({ origin, secret: 'key-1' }, 8)).toBe(first);
    expect(rateLimitOf({ origin, secret: 'two' }, 8)).not.toBe(first);
    const { code, message } = thrownBy(() => rateLimitOf({ origin, secret: 'key-1' }, 9));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).not.toContain('key-1');
    expect(message).toContain('is 8 in one and 9 in the other');
  });
});

describe('A budget', () => {
  const limits = { costPerCall: 0.008 };

  test('allows exactly its number of calls', async () => {
    const budget = new Budget(unlimited, { ...limits, maxCalls: 2 });
    let begun = 0;
    const start = () => budget.start(never).then(() => (begun += 1));
    await start();
    await start();
    const { code, message } = await rejectionOf(start());
    expect(code).toBe('WEB_BUDGET_SPENT');
    expect(message).toContain('2 calls (budget.maxCalls = 2)');
    expect([begun, budget.calls]).toEqual([2, 2]);
  });

  test('pays for the calls that its money allows, without rounding errors', async () => {
    // 3 x 0.1 is 0.30000000000000004 in binary.
    const budget = new Budget(unlimited, { costPerCall: 0.1, maxCost: 0.3 });
    for (let call = 0; call < 3; call++) await budget.start(never);
    expect(budget.cost).toBeCloseTo(0.3, 12);
    expect((await rejectionOf(budget.start(never))).code).toBe('WEB_BUDGET_SPENT');
  });

  test('is not overdrawn by calls that waited for the rate limit together', async () => {
    const budget = new Budget(rateLimit(2), { ...limits, maxCalls: 3 });
    let begun = 0;
    const start = () => budget.start(never).then(() => (begun += 1));
    const outcomes = Promise.allSettled(Array.from({ length: 6 }, start));
    await jest.advanceTimersByTimeAsync(300_000);
    const rejected = (await outcomes).filter(({ status }) => status === 'rejected');
    expect([rejected.length, begun]).toEqual([3, 3]);
  });
});
