import PQueue from 'p-queue';

import { type Deadline, type Timed, withDeadline } from '../core/stopping/abort.ts';
import { messageOf } from '../core/errors.ts';
import { TransientError } from '../core/failure.ts';
import { type Methods, RpcClient } from './rpc.ts';
import type { ThreadStart } from './thread.ts';

/** The method of a pooled thread, which handles one request at a time. */
export interface Answers<Request, Answer> extends Methods {
  answer: (args: [Request]) => Answer | Promise<Answer>;
}

export interface PoolOptions<Answer> extends ThreadStart {
  /** Its subject in messages: 'The thread of ...'. */
  name: string;
  startUpS: number;
  /** Most requests that are answered at once; others wait their turn. As many as there are by default. */
  mostAtOnce?: number;
  /** Whether the thread can be given another request after this answer; by default it can. */
  reusable?: (answer: Answer) => boolean;
}

/** No request can be blamed for it. */
export class ThreadNotStarted extends TransientError {
  override readonly name = 'ThreadNotStarted';
}

/**
 * Threads that answer one request at a time, so that a request can be ended even while it loops. A thread is kept for
 * the next request, and replaced when it overran its deadline, failed or was aborted.
 */
export class ThreadPool<Request, Answer> {
  readonly #idle: RpcClient<Answers<Request, Answer>>[] = [];
  /** Those that were started before a request; undefined where that failed. */
  readonly #ahead: Promise<RpcClient<Answers<Request, Answer>> | undefined>[] = [];
  readonly #closing = new AbortController();
  readonly #turns: PQueue;

  constructor(private readonly options: PoolOptions<Answer>) {
    this.#turns = new PQueue({ concurrency: options.mostAtOnce ?? Infinity });
  }

  /** Starts threads before there are requests. Where one cannot start, the first request starts another, and says why it cannot. */
  startAhead(count: number): void {
    const { mostAtOnce = Infinity } = this.options;
    for (let left = Math.min(count, mostAtOnce); left > 0; left--)
      this.#ahead.push(this.#start(this.#closing.signal).catch(() => undefined));
  }

  /**
   * The deadline starts when it is the request's turn and the thread is ready.
   *
   * @throws ThreadNotStarted, what the thread throws or ended with, the signal's reason
   */
  ask(request: Request, deadline: Deadline): Promise<Timed<Answer>> {
    const { signal } = deadline;
    return this.#turns.add(() => this.#ask(request, deadline), { signal });
  }

  async #ask(request: Request, deadline: Deadline): Promise<Timed<Answer>> {
    const { reusable = () => true } = this.options;
    const thread = this.#kept() ?? (await this.#begun(deadline.signal));
    let keep = false;
    try {
      const timed = await withDeadline(async () => thread.call('answer', [request]), deadline);
      keep = timed !== 'timeout' && reusable(timed.value);
      return timed;
    } finally {
      if (keep) this.#idle.push(thread);
      else await thread.terminate();
    }
  }

  /** Ends the idle threads. */
  async close(): Promise<void> {
    this.#closing.abort();
    const threads = [...this.#idle.splice(0), ...(await Promise.all(this.#ahead.splice(0)))];
    await Promise.all(threads.map(async (thread) => thread?.terminate()));
  }

  /** One that was started before, or starts now. */
  async #begun(signal: AbortSignal) {
    const thread = await this.#ahead.shift();
    if (thread === undefined || thread.ended) return this.#start(signal);
    if (!signal.aborted) return thread;
    this.#idle.push(thread);
    throw signal.reason;
  }

  /** A thread may also end while it is idle. */
  #kept() {
    let thread = this.#idle.pop();
    while (thread?.ended === true) thread = this.#idle.pop();
    return thread;
  }

  async #start(signal: AbortSignal) {
    const { name, startUpS: seconds, mostAtOnce: _, ...start } = this.options;
    const late = new Error(`it did not start within ${seconds} s`);
    try {
      const thread = await RpcClient.open<Answers<Request, Answer>>({
        ...start,
        ended: (cause) => cause,
        startUp: { seconds, signal, late },
      });
      thread.unref();
      return thread;
    } catch (cause) {
      signal.throwIfAborted();
      throw new ThreadNotStarted(`${name} could not start: ${messageOf(cause)}`, { cause });
    }
  }
}
