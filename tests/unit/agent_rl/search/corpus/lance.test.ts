import { describe, expect, test } from '@jest/globals';

import { inLance, mostInFlight } from '#agent_rl/search/corpus/lance.ts';

describe('The LanceDB queue', () => {
  test('runs at most eight operations at a time and finishes all', async () => {
    let inFlight = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const work = async (): Promise<void> => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise<void>((resolve) => waiting.push(resolve));
      inFlight -= 1;
    };
    const all = Promise.all(Array.from({ length: 50 }, () => inLance(work)));
    for (let done = 0; done < 50;) {
      const release = waiting.shift();
      if (release === undefined) await new Promise(setImmediate);
      else {
        release();
        done += 1;
      }
    }
    await all;
    expect(mostInFlight).toBe(8);
    expect(most).toBe(8);
  });

  test('does not wait for aborted work, which keeps its place until it is done', async () => {
    const finish: (() => void)[] = [];
    const caller = new AbortController();
    const reason = new Error('too late');
    const slow = Array.from({ length: 8 }, () =>
      inLance(() => new Promise<void>((resolve) => finish.push(resolve)), caller.signal),
    );
    let begun = 0;
    const begin = async (): Promise<number> => (begun += 1);
    const unwanted = inLance(begin, caller.signal);
    const next = inLance(begin);
    const refused = Promise.allSettled([...slow, unwanted]);
    caller.abort(reason);
    const each = { status: 'rejected', reason };
    expect(await refused).toEqual(Array.from({ length: 9 }, () => each));
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(begun).toBe(0);
    for (const done of finish) done();
    await next;
    expect(begun).toBe(1);
  });

  test('reports a failure only to its caller', async () => {
    const failing = inLance(() => Promise.reject(new Error('no such column')));
    await expect(failing).rejects.toThrow('no such column');
    expect(await inLance(async () => 1)).toBe(1);
  });
});
