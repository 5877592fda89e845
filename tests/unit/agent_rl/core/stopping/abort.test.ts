import { getEventListeners } from 'node:events';

import { describe, expect, test } from '@jest/globals';

import {
  abortable,
  abortableStart,
  inTime,
  throwIfStopped,
  underSignals,
  withDeadline,
} from '#agent_rl/core/stopping/abort.ts';
import { StrayFailure } from '#agent_rl/core/stopping/stray-failure.ts';

/** What it rejects with, whatever that is. */
const rejectionOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(String, (thrown: unknown) => thrown);
const never = () => new AbortController().signal;
const abortedBy = (reason: unknown): AbortSignal => AbortSignal.abort(reason);
const unending = <Value>() => new Promise<Value>(() => {});

describe('Abortable work', () => {
  test('ends with its result, with its error, or with the reason of its signal', async () => {
    expect(await abortable(Promise.resolve(1), undefined)).toBe(1);
    expect(await abortable(Promise.resolve(1), never())).toBe(1);
    const failing = abortable(Promise.reject(new Error('its own')), never());
    await expect(failing).rejects.toThrow('its own');
    await expect(abortable(unending(), abortedBy(new Error('stop')))).rejects.toThrow('stop');
    await expect(abortable(unending(), abortedBy('a word'))).rejects.toThrow('a word');
    const later = new AbortController();
    const waiting = abortable(unending(), later.signal);
    later.abort(new Error('later'));
    await expect(waiting).rejects.toThrow('later');
  });

  test('is discarded only if it arrives after the abort', async () => {
    const discarded: string[] = [];
    const discard = (late: string) => discarded.push(late);
    const stopped = new AbortController();
    let open!: (value: string) => void;
    const opening = new Promise<string>((resolve) => (open = resolve));
    const waiting = rejectionOf(abortable(opening, stopped.signal, discard));
    expect(await abortable(Promise.resolve('in time'), stopped.signal, discard)).toBe('in time');
    stopped.abort(new Error('stop'));
    await waiting;
    expect(discarded).toEqual([]);
    open('late');
    await opening;
    expect(discarded).toEqual(['late']);
  });
});

describe('Work under several signals', () => {
  test('is aborted by the first of them, with its reason', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const working = underSignals([first.signal, undefined, second.signal], (signal) =>
      abortable(unending(), signal),
    );
    second.abort(new Error('second'));
    first.abort(new Error('first'));
    await expect(working).rejects.toThrow('second');
    const late = underSignals([abortedBy(new Error('before'))], async ({ reason }) => `${reason}`);
    expect(await late).toBe('Error: before');
  });

  test('leaves no listener on a long-lived signal, whatever its result', async () => {
    const { signal } = new AbortController();
    const late = new Error('late');
    for (let i = 0; i < 20; i++) {
      await underSignals([signal], (own) =>
        inTime(async () => i, { seconds: 5, signal: own, late }),
      );
      await inTime(async () => i, { seconds: 5, signal, late });
      await rejectionOf(inTime(unending, { seconds: 0.001, signal, late }));
    }
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('Work with a deadline', () => {
  const late = new Error('too late');

  test("ends in time, or is aborted with the deadline's error", async () => {
    expect(await inTime(async () => 1, { seconds: 1, signal: never(), late })).toBe(1);
    let seen: unknown;
    const work = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => (seen = signal.reason));
      return unending();
    };
    expect(await rejectionOf(inTime(work, { seconds: 0.01, signal: never(), late }))).toBe(late);
    expect(seen).toBe(late);
  });

  test('is late even if it answers the abort at once', async () => {
    const work = (signal: AbortSignal) =>
      new Promise<string>((resolve) => {
        signal.addEventListener('abort', () => resolve('answered'));
      });
    expect(await withDeadline(work, { seconds: 0.01, signal: never() })).toBe('timeout');
  });

  test('ends with the reason of its signal when that is aborted first', async () => {
    const signal = abortedBy(new Error('stop'));
    await expect(withDeadline(unending, { seconds: 1, signal })).rejects.toThrow('stop');
  });
});

test('opening a resource before a job is interrupted by a stop, or fails with the stray failure that caused it', async () => {
  expect(await abortableStart(Promise.resolve('open'), never())).toBe('open');
  const stopped = abortableStart(unending(), abortedBy(undefined));
  expect(await rejectionOf(stopped)).toMatchObject({ code: 'INTERRUPTED' });
  const failure = new StrayFailure('rejection', new Error('left alone'));
  expect(await rejectionOf(abortableStart(unending(), abortedBy(failure)))).toBe(failure);
  expect(() => throwIfStopped(abortedBy(failure))).toThrow(failure);
  expect(() => throwIfStopped(never())).not.toThrow();
});
