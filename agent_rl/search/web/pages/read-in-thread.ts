import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

import { compiledTwin } from '../../../core/compiled-twin.ts';
import { nextMessage } from '../../../threads/thread.ts';
import type { PageAnswer } from './page-thread.ts';
import type { ReadablePage } from './readable-page.ts';
import { untilAborted } from '../until-aborted.ts';
import { WebFailure } from '../web-failure.ts';

/** Seconds for one page. Real pages take a fraction of one; what takes longer keeps all others waiting. */
const mostSeconds = 20;
const startUpSeconds = 60;
const maxHeapMiB = 512;

let idle: Worker | undefined;
let turn: Promise<unknown> = Promise.resolve();

/**
 * `readablePage` in a thread of the process's own, so that a page that takes long to be taken apart stops nothing else
 * and ends by its deadline. One page after another; the thread is kept, and is replaced when it had to be ended.
 *
 * @throws WebFailure `timeout` for a page that takes too long, `bad-response` for one that breaks the parser; the
 *   signal's reason
 */
export async function readInThread(
  html: string,
  { signal, seconds = mostSeconds }: { signal: AbortSignal; seconds?: number },
): Promise<ReadablePage> {
  const mine = turn.then(async () => {
    signal.throwIfAborted();
    return readNow(html, { signal, seconds });
  });
  // Whatever becomes of this page, the next one has its turn after it.
  turn = mine.catch(() => {});
  return untilAborted(mine, signal);
}

/** Ends the thread when no page is in it. The next page starts another one. */
export async function closePageThread(): Promise<void> {
  const worker = idle;
  idle = undefined;
  await worker?.terminate();
}

interface Limits {
  signal: AbortSignal;
  seconds: number;
}

async function readNow(html: string, { signal, seconds }: Limits): Promise<ReadablePage> {
  const worker = idle ?? (await started(signal));
  idle = undefined;
  const late = new WebFailure('timeout', `the page could not be taken apart within ${seconds} s`);
  let answer: PageAnswer;
  try {
    const answered = nextMessage<PageAnswer>(worker);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    worker.postMessage(html);
    answer = await within(answered, { signal, seconds, late });
  } catch (thrown) {
    await worker.terminate();
    if (thrown === late || signal.aborted) throw thrown;
    // Only this page was there to end it.
    throw new WebFailure('bad-response', 'the page is too large to be taken apart', {
      cause: thrown,
    });
  }
  if (answer.kind === 'read') {
    idle = worker;
    return answer.page;
  }
  // A parser that threw may be left in any state.
  await worker.terminate();
  if (answer.kind === 'failed') throw new WebFailure(answer.failure, answer.message);
  throw new Error('The thread that takes pages apart started twice.');
}

async function started(signal: AbortSignal): Promise<Worker> {
  const entry = new URL(`./page-thread${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(compiledTwin(entry), {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
  });
  worker.unref();
  const forget = (): void => {
    if (idle === worker) idle = undefined;
  };
  // Also while idle, when nobody waits for an answer.
  worker.on('error', forget).on('exit', forget);
  const late = new Error(`The thread that takes pages apart did not start in ${startUpSeconds} s.`);
  try {
    await within(nextMessage<PageAnswer>(worker), { signal, seconds: startUpSeconds, late });
    return worker;
  } catch (thrown) {
    await worker.terminate();
    throw thrown;
  }
}

interface Deadline extends Limits {
  late: Error;
}

async function within<Value>(
  work: Promise<Value>,
  { signal, seconds, late }: Deadline,
): Promise<Value> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(late), seconds * 1000);
  try {
    return await untilAborted(work, AbortSignal.any([signal, deadline.signal]));
  } finally {
    clearTimeout(timer);
  }
}
