import { abortable, type Deadline } from '../../../core/stopping/abort.ts';
import { ThreadNotStarted, ThreadPool } from '../../../threads/thread-pool.ts';
import { moduleBeside } from '../../../threads/thread.ts';
import type { PageAnswer } from './page-thread.ts';
import type { ReadablePage } from './readable-page.ts';
import { WebFailure } from '../web-failure.ts';

/** Seconds for one page. Real pages take a fraction of one; what takes longer keeps all others waiting. */
const mostSeconds = 20;

const thread = new ThreadPool<string, PageAnswer>({
  name: 'The thread that extracts text from pages',
  entry: moduleBeside(import.meta.url, 'page-thread'),
  startUpS: 60,
  maxHeapMiB: 512,
  // A parser that threw may be left in any state.
  reusable: ({ kind }) => kind === 'read',
});
let turn: Promise<unknown> = Promise.resolve();

/**
 * `readablePage` in a thread of the process's own, so that a page that takes long to parse stops nothing else
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
  return abortable(mine, signal);
}

/** Ends the thread when no page is in it. The next page starts another one. */
export const closePageThread = (): Promise<void> => thread.close();

async function readNow(html: string, { signal, seconds }: Deadline): Promise<ReadablePage> {
  const answer = await thread.ask(html, { signal, seconds }).catch((cause: unknown) => {
    if (signal.aborted || cause instanceof ThreadNotStarted) throw cause;
    // This page alone was in the thread that it ended.
    throw new WebFailure('bad-response', 'the page is too large to be parsed', { cause });
  });
  if (answer === 'timeout')
    throw new WebFailure('timeout', `the page could not be parsed within ${seconds} s`);
  if (answer.value.kind === 'read') return answer.value.page;
  throw new WebFailure(answer.value.failure, answer.value.message);
}
