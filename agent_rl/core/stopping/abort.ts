import { setMaxListeners } from 'node:events';

import { AgentRlError } from '../errors.ts';
import { throwIfFailed } from './stray-failure.ts';
import { timedBy, WorkClock } from './work-clock.ts';

/** What `work` came to, or `'timeout'` when the deadline passed first. */
export type Timed<Value> = { value: Value } | 'timeout';

export interface Deadline {
  seconds: number;
  signal: AbortSignal;
}

/**
 * The result of the work, or the signal's reason as an error, whichever comes first. The work itself continues.
 *
 * @param discard given what the work comes to after it was aborted, so that it can be closed
 */
export async function abortable<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  discard?: (late: Value) => unknown,
): Promise<Value> {
  if (signal === undefined) return work;
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(reasonOf(signal));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } catch (thrown) {
    // Its failure matters to no caller any more.
    if (signal.aborted && discard !== undefined) work.then(discard).catch(() => undefined);
    throw thrown;
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

/**
 * Has a controller abort with the first of some signals, of which none is kept. `AbortSignal.any` stays with a signal for as long as
 * that lives, and the signal of a run lives long.
 *
 * @returns has it follow them no more
 */
export function follow(
  own: AbortController,
  signals: readonly (AbortSignal | undefined)[],
): () => void {
  const unlinks = signals.flatMap((signal) => {
    if (signal === undefined) return [];
    const abort = (): void => own.abort(signal.reason);
    if (signal.aborted) abort();
    // Of a run, there are as many as episodes in flight.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', abort);
    return [() => signal.removeEventListener('abort', abort)];
  });
  return () => {
    for (const unlink of unlinks) unlink();
  };
}

/** Does work under a signal of its own that is aborted with the first of some others. */
export async function underSignals<Value>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const unfollow = follow(own, signals);
  try {
    return await work(own.signal);
  } finally {
    unfollow();
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error(String(reason));

/**
 * Runs the work until its deadline, then aborts its signal and stops waiting for it. Its waits for the run's own services
 * do not count (`notTimed`). Work that loops synchronously cannot be ended this way.
 *
 * @throws what the work throws, `late` at the deadline, and the reason of `signal` when that is aborted first
 */
export async function inTime<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  { seconds, signal, late }: Deadline & { late: Error },
): Promise<Value> {
  const deadline = new AbortController();
  let pass: (() => void) | undefined;
  const passed = new Promise<never>((_, reject) => {
    pass = () => reject(late);
  });
  const clock = new WorkClock(seconds, () => {
    // First: the work may answer the abort at once.
    pass?.();
    deadline.abort(late);
  });
  try {
    return await underSignals([signal, deadline.signal], (either) => {
      const working = timedBy(clock, () => work(either));
      return abortable(Promise.race([passed, working]), signal);
    });
  } finally {
    clock.stop();
  }
}

/** Whether the work was done; false where the signal was aborted meanwhile. @throws what the work throws otherwise */
export async function doneUnlessAborted(
  work: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    return false;
  }
}

/** `inTime`, with a deadline that passes as a result. */
export async function withDeadline<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  { seconds, signal }: Deadline,
): Promise<Timed<Value>> {
  const late = new Error(`The deadline of ${seconds} s passed.`);
  try {
    return { value: await inTime(work, { seconds, signal, late }) };
  } catch (thrown) {
    if (thrown === late) return 'timeout';
    throw thrown;
  }
}

/** @throws StrayFailure or AgentRlError `INTERRUPTED` when a job is stopped before it has begun. */
export function throwIfStopped(signal: AbortSignal): void {
  throwIfFailed(signal);
  if (signal.aborted) {
    throw new AgentRlError('INTERRUPTED', 'Stopped while starting; nothing was started.');
  }
}

/**
 * What a job opens before it begins. When the job is stopped first, it is closed as soon as it is open.
 *
 * @throws StrayFailure or AgentRlError `INTERRUPTED` when the job is stopped, and what opening throws.
 */
export async function abortableStart<Opened>(
  opening: Promise<Opened>,
  signal: AbortSignal,
  close?: (opened: Opened) => Promise<unknown>,
): Promise<Opened> {
  try {
    return await abortable(opening, signal, close);
  } catch (thrown) {
    if (signal.aborted) throwIfStopped(signal);
    throw thrown;
  }
}
