import { isNativeError } from 'node:util/types';
import { parentPort, workerData, type Worker } from 'node:worker_threads';

import { type Deadline, inTime } from '../core/stopping/abort.ts';
import {
  fromSentError,
  type SentError,
  startThread,
  type ThreadStart,
  toSentError,
} from './thread.ts';

/** The methods of a thread, by name: each method is given the list of its arguments and the caller's signal. */
export type Methods = Readonly<Record<string, (args: never, signal: AbortSignal) => unknown>>;

type ArgsOf<Method extends Methods[string]> =
  Parameters<Method> extends [] ? [] : Parameters<Method>[0];

type Request = { id: number; method: string; args: unknown } | { abort: number };

/** One for each request, and one with `startId` when the thread has started. */
type Answer = { id: number; value: unknown } | { id: number; error: SentError };

const startId = 0;

interface Pending {
  resolve: (value: never) => void;
  reject: (problem: unknown) => void;
}

export interface ClientOptions extends ThreadStart {
  /** The error of all requests, open and later, once the thread has ended. */
  ended: (cause: Error) => Error;
  /** Of the start; none unless given. */
  startUp?: Deadline & { late: Error };
}

/** A thread seen from the one that started it: it answers requests, several at a time. */
export class RpcClient<Served extends Methods> {
  readonly #pending = new Map<number, Pending>();
  readonly #worker: Worker;
  readonly #endedBy: (cause: Error) => Error;
  #nextId = startId;
  #ended: Error | undefined;

  private constructor(worker: Worker, endedBy: (cause: Error) => Error) {
    this.#worker = worker;
    this.#endedBy = endedBy;
    const fail = (cause: unknown): void => this.#end(endedBy(uncaught(cause)));
    worker
      .on('message', (answer: Answer) => this.#settle(answer))
      .on('error', fail)
      .on('messageerror', fail)
      .on('exit', (code) => fail(new Error(`its thread exited with code ${code}`)));
  }

  /** @throws what keeps the thread from starting, and `startUp.late`. */
  static async open<Served extends Methods>(options: ClientOptions): Promise<RpcClient<Served>> {
    const client = new RpcClient<Served>(startThread(options), options.ended);
    const started = client.#answer(client.#nextId++);
    try {
      await (options.startUp ? inTime(() => started, options.startUp) : started);
      return client;
    } catch (thrown) {
      await client.terminate();
      throw thrown;
    }
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** @throws what the method throws, its code kept. What an aborted call comes to is the method's own affair. */
  async call<Name extends keyof Served & string>(
    method: Name,
    args: ArgsOf<Served[Name]>,
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<Served[Name]>>> {
    if (this.#ended !== undefined) throw this.#ended;
    const id = this.#nextId++;
    this.#send({ id, method, args });
    const answer = this.#answer(id);
    const abort = (): void => this.#send({ abort: id });
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return (await answer) as Awaited<ReturnType<Served[Name]>>;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Lets the process end while the thread is idle. */
  unref(): void {
    this.#worker.unref();
  }

  /** Has the thread close what it opened, and ends it. */
  async close(): Promise<void> {
    if (this.ended) return;
    await this.call('close', [] as never);
    await this.terminate();
  }

  /** Has the thread release what an episode holds. Not awaited: a thread that ended holds nothing. */
  release(episode: string): void {
    this.call('release', [episode] as never).catch(() => undefined);
  }

  /** Ends the thread, whatever it is doing. */
  async terminate(): Promise<void> {
    this.#end(this.#endedBy(new Error('it was closed')));
    await this.#worker.terminate();
  }

  #send(request: Request): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(request);
  }

  #answer(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ('error' in answer) pending?.reject(fromSentError(answer.error));
    else pending?.resolve(answer.value as never);
  }

  #end(problem: Error): void {
    this.#ended ??= problem;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }
}

/** What a thread did not catch arrives with the prototype of its class, and is no longer a native error. */
function uncaught(thrown: unknown): Error {
  if (isNativeError(thrown)) return thrown;
  const { message = String(thrown), stack } = Object(thrown) as Partial<Error>;
  return fromSentError({ code: undefined, message, stack });
}

/** The other side: run in the thread, it opens what answers, given the thread's data, and then serves requests. */
export async function serveRpc(open: (data: never) => Promise<Methods>): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('This module runs in a worker thread only.');
  const inFlight = new Map<number, AbortController>();
  const answer = async (id: number, work: () => unknown): Promise<void> => {
    try {
      port.postMessage({ id, value: await work() } satisfies Answer);
    } catch (thrown) {
      port.postMessage({ id, error: toSentError(thrown) } satisfies Answer);
    }
  };
  await answer(startId, async () => {
    const methods = await open(workerData as never);
    port.on('message', (request: Request) => {
      if ('abort' in request) {
        inFlight.get(request.abort)?.abort();
        return;
      }
      const { id, method, args } = request;
      const abort = new AbortController();
      inFlight.set(id, abort);
      const work = (): unknown => methods[method]?.(args as never, abort.signal);
      void answer(id, work).finally(() => inFlight.delete(id));
    });
  });
}
