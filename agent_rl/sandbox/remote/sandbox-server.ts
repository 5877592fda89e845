import { underSignals } from '../../core/stopping/abort.ts';
import { type HttpClient, NoAnswer } from '../../http/http-client.ts';
import type { RemoteServer } from './own-server.ts';

/** A server, the connection to it and its state. */
export class SandboxServer {
  problem: string | undefined;
  sessions = 0;
  /** Failed health checks in a row. */
  missed = 0;
  readonly #asked = new Set<AbortController>();

  constructor(
    readonly url: string,
    readonly http: HttpClient,
    readonly server: RemoteServer,
  ) {}

  /** Programs in progress, including programs of sessions. */
  get running(): number {
    return this.#asked.size;
  }

  /**
   * Does work on the server that counts as a program.
   *
   * @throws NoAnswer, also when the server is given up meanwhile; the signal's reason when it is aborted
   */
  async ask<Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const asked = new AbortController();
    this.#asked.add(asked);
    try {
      return await underSignals([signal, asked.signal], work);
    } finally {
      this.#asked.delete(asked);
    }
  }

  /** Ends all requests in progress: their answers will not come. */
  abandon(why: string): void {
    for (const asked of this.#asked) asked.abort(new NoAnswer(why));
  }
}
