import { describe, expect, test } from '@jest/globals';

import { inLance, mostInFlight } from '../../../../../agent_rl/search/corpus/lance.ts';

describe('work in LanceDB', () => {
  test('goes on for at most eight at a time, and all of it is done', async () => {
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

  test('that is given up is not waited for, and keeps its place until it is done', async () => {
    let finish = (): void => {};
    const caller = new AbortController();
    const slow = inLance(() => new Promise<void>((resolve) => (finish = resolve)), caller.signal);
    const reason = new Error('too late');
    caller.abort(reason);
    await expect(slow).rejects.toBe(reason);
    finish();
    expect(await inLance(async () => 'next')).toBe('next');
  });

  test('that fails is the failure of its caller alone', async () => {
    const failing = inLance(() => Promise.reject(new Error('no such column')));
    await expect(failing).rejects.toThrow('no such column');
    expect(await inLance(async () => 1)).toBe(1);
  });
});
