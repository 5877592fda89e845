import { messageOf } from '../core/errors.ts';

/** One of several servers that are asked alike. */
export interface PooledServer {
  readonly url: string;
  /** Why it is asked for nothing at present. */
  problem: string | undefined;
}

/** How often servers are looked at: those that were taken out, or `all` where one that is up may hang. */
export interface LookOptions {
  everyMs: number;
  all?: boolean;
}

/** A server is out, with its `problem`; it is back; or it is not looked at any more. */
export type PoolChange = 'out' | 'back' | 'given-up';

/** Servers that are alike. One that gives no answer is taken out and looked at until it is well again. */
export abstract class ServerPool<Server extends PooledServer> {
  readonly #watched = new Set<Server>();
  readonly #looking = new Set<Server>();
  readonly #closed = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly servers: readonly Server[],
    { everyMs, all = false }: LookOptions,
  ) {
    const look = (): void => {
      for (const server of all ? servers : this.#watched) void this.look(server);
    };
    this.#timer = setInterval(look, everyMs).unref();
  }

  /** Why a server cannot be asked, or `undefined`. @throws what keeps it out whatever later looks would find */
  protected abstract problemOf(server: Server, signal: AbortSignal): Promise<string | undefined>;

  protected abstract report(server: Server, change: PoolChange): void;

  /** After each look. */
  protected looked(server: Server, problem: string | undefined): void {
    if (problem === undefined) this.putBack(server);
  }

  get up(): readonly Server[] {
    return this.servers.filter(({ problem }) => problem === undefined);
  }

  /** Whether a server is out and will be put back when a look finds it well. */
  isWatched(server: Server): boolean {
    return this.#watched.has(server);
  }

  /** Asks a server for nothing until a look finds it well. */
  takeOut(server: Server, why: string): void {
    this.exclude(server, why);
    this.#watched.add(server);
  }

  /** Asks a server for nothing until it is put back. */
  exclude(server: Server, why: string): void {
    if (server.problem !== undefined) return;
    server.problem = why;
    this.report(server, 'out');
  }

  putBack(server: Server): void {
    this.#watched.delete(server);
    if (server.problem === undefined) return;
    server.problem = undefined;
    this.report(server, 'back');
  }

  async look(server: Server): Promise<void> {
    const { signal } = this.#closed;
    if (this.#looking.has(server) || signal.aborted) return;
    this.#looking.add(server);
    try {
      const problem = await this.problemOf(server, signal);
      if (!signal.aborted) this.looked(server, problem);
    } catch (thrown) {
      this.#watched.delete(server);
      if (signal.aborted) return;
      server.problem = messageOf(thrown);
      this.report(server, 'given-up');
    } finally {
      this.#looking.delete(server);
    }
  }

  close(): void {
    this.#closed.abort();
    clearInterval(this.#timer);
  }
}

/** The one of some servers that is least busy; the first of several. */
export const leastBusy = <Server>(
  [first, ...others]: readonly [Server, ...Server[]],
  busy: (server: Server) => number,
): Server => others.reduce((least, one) => (busy(one) < busy(least) ? one : least), first);
