import { describe, expect, test } from '@jest/globals';

import { FairQueue } from '#agent_rl/sandbox/layers/take-turns.ts';
import * as fc from '#tests/support/properties.ts';
import { thrownBy } from '#tests/support/thrown.ts';

/** Work that lasts until it is ended; `started` lists it by name in the order of its starts. */
class Bench {
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();

  work = (name: string) => (): Promise<string> => {
    this.started.push(name);
    return new Promise((resolve) => this.#ends.set(name, () => resolve(name)));
  };

  get running(): readonly string[] {
    return [...this.#ends.keys()];
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    this.#ends.delete(name);
    await settle();
  }

  async endAll(): Promise<void> {
    while (this.running.length > 0) await this.end(this.running[0]!);
  }
}

/** Until all promises that can settle have. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('FairQueue', () => {
  test('lets owners take turns and serves the jobs of one in the order they came', async () => {
    const queue = new FairQueue(1);
    const bench = new Bench();
    const names = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'];
    const all = names.map((name) => queue.run(name[0]!, undefined, bench.work(name)));
    await bench.endAll();
    expect(await Promise.all(all)).toEqual(names);
    // a1 starts at once. Then a, b and c wait in this order, each with one turn a round.
    expect(bench.started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  test('never runs more than its slots and starts every job', async () => {
    const jobs = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), jobs, async (slots, owners) => {
        const queue = new FairQueue(slots);
        const bench = new Bench();
        const all = owners.map((owner, i) =>
          queue.run(owner, undefined, bench.work(`${owner}${i}`)),
        );
        for (let left = owners.length; left > 0; left--) {
          expect(bench.running).toHaveLength(Math.min(slots, left));
          await bench.end(bench.running.at(-1)!);
        }
        expect(await Promise.all(all)).toHaveLength(owners.length);
      }),
      { numRuns: 50 },
    );
  });

  test('makes a job wait for one job of each other owner at most, however many they have', async () => {
    const others = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(others, async (counts) => {
        const queue = new FairQueue(1);
        const bench = new Bench();
        const all = counts.flatMap((count, owner) =>
          Array.from({ length: count }, (_, i) =>
            queue.run(`owner ${owner}`, undefined, bench.work(`${owner}/${i}`)),
          ),
        );
        all.push(queue.run('late', undefined, bench.work('late')));
        await bench.endAll();
        await Promise.all(all);
        // The first starts before anything waits; then every owner has at most one turn before `late` has its.
        expect(bench.started.indexOf('late')).toBeLessThanOrEqual(1 + counts.length);
      }),
      { numRuns: 50 },
    );
  });

  test('keeps the slot of work that has started until it settles, aborted or not', async () => {
    const queue = new FairQueue(1);
    const bench = new Bench();
    const abort = new AbortController();
    const first = queue.run('a', abort.signal, bench.work('first'));
    const second = queue.run('a', undefined, bench.work('second'));
    abort.abort();
    await settle();
    expect(bench.started).toEqual(['first']);
    await bench.endAll();
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });

  test('aborts any of the waiting jobs without losing another', async () => {
    const job = fc.record({ owner: fc.constantFrom('a', 'b', 'c'), drop: fc.boolean() });
    const jobs = fc.array(job, { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(jobs, async (wanted) => {
        const queue = new FairQueue(1);
        const bench = new Bench();
        const blocker = queue.run('z', undefined, bench.work('blocker'));
        const aborts = wanted.map(() => new AbortController());
        const all = wanted.map(({ owner }, i) =>
          queue.run(owner, aborts[i]!.signal, bench.work(`${i}`)),
        );
        const outcomes = Promise.allSettled(all);
        wanted.forEach(({ drop }, i) => drop && aborts[i]!.abort());
        await bench.endAll();
        await blocker;
        const kept = (await outcomes).map(({ status }) => status === 'fulfilled');
        expect(kept).toEqual(wanted.map(({ drop }) => !drop));
      }),
      { numRuns: 50 },
    );
  });

  test('runs nothing for a signal that is aborted already', async () => {
    const bench = new Bench();
    const work = new FairQueue(1).run('a', AbortSignal.abort(), bench.work('first'));
    await expect(work).rejects.toThrow('aborted');
    expect(bench.started).toEqual([]);
  });

  test('frees the slot of work that throws, at once or later', async () => {
    const queue = new FairQueue(1);
    const atOnce = (): Promise<never> => {
      throw new Error('at once');
    };
    await expect(queue.run('a', undefined, atOnce)).rejects.toThrow('at once');
    const later = (): Promise<never> => Promise.reject(new Error('later'));
    await expect(queue.run('a', undefined, later)).rejects.toThrow('later');
    expect(await queue.run('a', undefined, async () => 42)).toBe(42);
  });

  test.each([0, -1, 1.5, Number.NaN])('refuses %p slots', (slots) => {
    const error = thrownBy(() => new FairQueue(slots));
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
