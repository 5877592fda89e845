import { expect, test } from '@jest/globals';
import PQueue from 'p-queue';

import { waitInQueue } from '#agent_rl/sandbox/pyodide/wait-in-queue.ts';

/** A queue whose only place is taken until `leave` is called. */
function takenQueue(): { queue: PQueue; leave: () => void } {
  const queue = new PQueue({ concurrency: 1 });
  let leave!: () => void;
  void queue.add(() => new Promise<void>((resolve) => (leave = resolve)));
  return { queue, leave };
}

test('Work is done in its turn and gives what it gives', async () => {
  const { queue, leave } = takenQueue();
  const order: string[] = [];
  const first = waitInQueue(queue, async () => order.push('first'));
  const second = waitInQueue(queue, () => Promise.reject(new Error('second')));
  expect(order).toEqual([]);
  leave();
  expect(await first).toBe(1);
  await expect(second).rejects.toThrow('second');
});

test('Aborting ends the wait at once, and the work is never done', async () => {
  const { queue, leave } = takenQueue();
  const abort = new AbortController();
  let done = false;
  const waiting = waitInQueue(queue, async () => (done = true), abort.signal);
  abort.abort(new Error('no longer wanted'));
  await expect(waiting).rejects.toThrow('no longer wanted');
  leave();
  await queue.onIdle();
  expect(done).toBe(false);
});

test('Aborting leaves work alone that has begun, which keeps its place', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const abort = new AbortController();
  let finish!: (value: string) => void;
  const work = (): Promise<string> => new Promise((resolve) => (finish = resolve));
  const running = waitInQueue(queue, work, abort.signal);
  abort.abort(new Error('too late'));
  expect(queue.pending).toBe(1);
  finish('done');
  expect(await running).toBe('done');
});

test('Work whose signal was aborted before is not queued', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const signal = AbortSignal.abort(new Error('before'));
  await expect(waitInQueue(queue, async () => 1, signal)).rejects.toThrow('before');
  expect(queue.size + queue.pending).toBe(0);
});
