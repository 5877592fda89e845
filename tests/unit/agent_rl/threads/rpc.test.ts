import { expect, test } from '@jest/globals';

import { messageOf } from '#agent_rl/core/errors.ts';
import { type Methods, RpcClient } from '#agent_rl/threads/rpc.ts';

/** What it rejects with, whatever that is. */
const rejectionOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(String, (thrown: unknown) => thrown);

interface Served extends Methods {
  add: (args: [number, number]) => number;
  slow: (args: [number]) => number;
  fail: (args: [string?]) => never;
  untilAborted: (args: [], signal: AbortSignal) => string;
  unsendable: () => unknown;
  exit: (args: [number]) => never;
  crash: () => void;
}

const entry = new URL('../../../fixtures/rpc-thread.mjs', import.meta.url);
const ended = (cause: unknown) => new Error(`ended: ${messageOf(cause)}`);
const open = (data: unknown = {}) => RpcClient.open<Served>({ entry, data, ended });

test('parallel requests each get their own answer', async () => {
  const thread = await open();
  const order: number[] = [];
  const slow = thread.call('slow', [50]).then((ms) => order.push(ms));
  const sums = [1, 2, 3].map(async (n) => thread.call('add', [n, 10]));
  expect(await Promise.all(sums)).toEqual([11, 12, 13]);
  order.push(0);
  await slow;
  expect(order).toEqual([0, 50]);
  await thread.terminate();
});

test('errors keep their codes across threads, and the thread continues', async () => {
  const thread = await open();
  const coded = { code: 'GENERATION_FAILED', message: 'coded' };
  expect(await rejectionOf(thread.call('fail', ['GENERATION_FAILED']))).toMatchObject(coded);
  const plain = await rejectionOf(thread.call('fail', []));
  expect(plain).toMatchObject({ message: 'plain' });
  expect(plain).not.toHaveProperty('code');
  await expect(thread.call('unsendable', [])).rejects.toThrow('could not be cloned');
  await expect(thread.call('add', [1, (() => 2) as never])).rejects.toThrow('could not be cloned');
  expect(await thread.call('add', [1, 2])).toBe(3);
  await thread.terminate();
});

test('the signal of a request reaches its method, aborted before or during the call', async () => {
  const thread = await open();
  expect(await thread.call('untilAborted', [], AbortSignal.abort())).toBe('aborted');
  const stop = new AbortController();
  const waiting = thread.call('untilAborted', [], stop.signal);
  stop.abort();
  expect(await waiting).toBe('aborted');
  await thread.terminate();
});

test('a thread that cannot start rejects with the cause', async () => {
  expect(await rejectionOf(open({ refuse: true }))).toMatchObject({
    code: 'MODEL_INVALID',
    message: 'there is no model',
  });
  const startUp = { seconds: 0.05, signal: new AbortController().signal, late: new Error('late') };
  const silent = RpcClient.open<Served>({ entry, data: { silent: true }, ended, startUp });
  await expect(silent).rejects.toThrow('late');
});

test('the end of the thread rejects open and later requests with the cause', async () => {
  for (const [method, args, why] of [
    ['exit', [7], 'ended: its thread exited with code 7'],
    ['crash', [], 'ended: crashed'],
  ] as const) {
    const thread = await open();
    const waiting = rejectionOf(thread.call('slow', [60_000]));
    thread.call(method, args as never).catch(() => {});
    expect(await waiting).toMatchObject({ message: why });
    expect(thread.ended).toBe(true);
    await expect(thread.call('add', [1, 2])).rejects.toThrow(why);
  }
  const closed = await open();
  await closed.terminate();
  await expect(closed.call('add', [1, 2])).rejects.toThrow('ended: it was closed');
});
