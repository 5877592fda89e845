import { underSignals } from '../../core/stopping/abort.ts';
import { type HttpClient, NoAnswer } from '../../http/http-client.ts';
import type { RemoteServer } from './own-server.ts';

/** A server that answers, the connection to it, and how it is. */
export class SandboxServer {
  problem: string | undefined;
  sessions = 0;
  /** Looks in a row that found a problem. */
  missed = 0;
  readonly #asked = new Set<AbortController>();

  constructor(
    readonly url: string,
    readonly http: HttpClient,
    readonly server: RemoteServer,
  ) {}

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

  /** Ends what it is asked for at present: its answer will not come. */
  abandon(why: string): void {
    for (const asked of this.#asked) asked.abort(new NoAnswer(why));
  }
}
