import { appendFileSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import type { StallWatchStart } from './stall-watch.ts';

/*
 * Entry of the thread that watches the main one. It loops by waiting on shared memory: it must not depend on anything of
 * the main thread.
 */

const { limitS, log, beat, plugin, kills } = workerData as StallWatchStart;
const counter = new Int32Array(beat);

/** After a computer has slept the time is up at once, though nothing is wrong. */
const graceMs = 3000;

/** Whether the main thread shows a sign of life in time. */
function isAlive(withinMs: number): boolean {
  return Atomics.wait(counter, 0, Atomics.load(counter, 0), withinMs) !== 'timed-out';
}

while (isAlive(limitS * 1000) || isAlive(graceMs));

const length = Atomics.load(new Int32Array(plugin, 0, 1), 0);
const name = new TextDecoder().decode(new Uint8Array(plugin, 4).slice(0, length));
const who = length === 0 ? 'No plugin had been called' : `The last plugin called was ${name}`;
const text = `The main thread has been blocked for ${limitS} s (rollout.deadlines.stallS), so the run stops. ${who}. If a tool may loop, run it in a thread: set isolated: import.meta.url. The run can be resumed from its latest checkpoint.`;
if (kills) writeSync(2, `\n${text}\n`);
try {
  if (log !== undefined) appendFileSync(log, `${new Date().toISOString()} error ${text}\n`);
} finally {
  // Nothing gentler reaches a thread that never yields; a program that called the job is notified once it yields.
  if (kills) process.kill(process.pid, 'SIGKILL');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  else parentPort?.postMessage(text);
}
