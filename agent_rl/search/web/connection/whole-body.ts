import type { Dispatcher } from 'undici';

import { WebFailure } from '../web-failure.ts';

export interface WholeBodyOptions {
  /** Longest body taken, in bytes. */
  maxBytes: number;
  /** Until the last byte of one attempt, connecting included. */
  timeoutS: number;
}

/**
 * Hands a response on only when all of it is there, so that an attempt that breaks off half way is one that failed
 * and can be made again from the start. Ends an attempt that takes too long or sends too much, however slowly.
 */
export const wholeBody =
  (options: WholeBodyOptions): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (request, handler) =>
    dispatch(request, new Attempt(handler, options));

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

class Attempt implements Dispatcher.DispatchHandler {
  readonly #chunks: Buffer[] = [];
  readonly #timer: ReturnType<typeof setTimeout>;
  /** What the handlers above hold. Aborted only by them: an attempt that ends here may be made again. */
  readonly #outer: AttemptController;
  #inner: Dispatcher.DispatchController | undefined;
  #head: readonly [number, Headers, string | undefined] | undefined;
  #bytes = 0;
  #over: Error | true | undefined;

  constructor(
    private readonly handler: Dispatcher.DispatchHandler,
    private readonly options: WholeBodyOptions,
  ) {
    this.#outer = new AttemptController((reason) => this.#end(reason));
    this.#timer = setTimeout(() => {
      const heard = this.#head === undefined ? 'no answer' : 'only part of an answer';
      this.#end(new WebFailure('timeout', `${heard} within ${options.timeoutS} s`));
    }, options.timeoutS * 1000);
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#inner = controller;
    // Ended while it was still connecting.
    if (this.#over instanceof Error) controller.abort(this.#over);
    else this.handler.onRequestStart?.(this.#outer, context);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
    statusText?: string,
  ): void {
    // 1xx only announces.
    if (status >= 200) this.#head = [status, headers, statusText];
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBytes } = this.options;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) {
      this.#end(new WebFailure('too-large', `the answer is longer than ${maxBytes} bytes`));
    } else this.#chunks.push(chunk);
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: Headers): void {
    if (this.#over !== undefined || this.#head === undefined) return;
    this.#finish(true);
    try {
      this.handler.onResponseStart?.(this.#outer, ...this.#head);
      this.handler.onResponseData?.(this.#outer, Buffer.concat(this.#chunks));
      this.handler.onResponseEnd?.(this.#outer, trailers);
    } catch (error) {
      // The retry handler throws what it wants to hear as an error.
      this.handler.onResponseError?.(this.#outer, error as Error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#over !== undefined) return;
    this.#finish(error);
    this.handler.onResponseError?.(this.#outer, error);
  }

  #end(error: Error): void {
    if (this.#over !== undefined) return;
    this.#finish(error);
    this.handler.onResponseError?.(this.#outer, error);
    this.#inner?.abort(error);
  }

  #finish(over: Error | true): void {
    this.#over = over;
    clearTimeout(this.#timer);
  }
}

/** Stands for an attempt towards the handlers above it. */
export class AttemptController implements Dispatcher.DispatchController {
  readonly paused = false;
  readonly rawHeaders = null;
  readonly rawTrailers = null;
  aborted = false;
  reason: Error | null = null;

  constructor(private readonly onAbort: (reason: Error) => void) {}

  pause(): void {}
  resume(): void {}

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.onAbort(reason);
  }
}
