import { underSignals } from '../../core/stopping/abort.ts';
import { NoAnswer } from '../../http/http-client.ts';
import type { OpenedServer } from './open-server.ts';
import type { RemoteServer } from './own-server.ts';

/** One of several servers, and how it is. */
export class PooledServer {
  sessions = 0;
  isUp = true;
  /** Checks in a row that it did not pass. */
  missed = 0;
  readonly #asked = new Set<AbortController>();

  constructor(private readonly opened: OpenedServer) {}

  get url(): string {
    return this.opened.url;
  }

  get server(): RemoteServer {
    return this.opened.server;
  }

  /** Programs under way, those of sessions among them. */
  get running(): number {
    return this.#asked.size;
  }

  /**
   * Has it do something that counts as a program.
   *
   * @throws NoAnswer, also when it is taken down meanwhile; the signal's reason when it is aborted
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

  /** Ends what it is asked for at present: nobody waits for an answer that does not come. */
  abandon(why: string): void {
    for (const asked of this.#asked) asked.abort(new NoAnswer(why));
  }

  close(): Promise<void> {
    return this.opened.http.close();
  }
}
