import type { SandboxSession, SessionRequest } from '../../core/services/sandbox.ts';
import { NoAnswer } from '../../http/http-client.ts';
import { withAddress } from './open-server.ts';
import type { SandboxServer } from './sandbox-server.ts';
import type { SandboxPool } from './server-pool.ts';

interface Opened {
  session: SandboxSession;
  server: SandboxServer;
}

/**
 * A session on one of several servers. The server is chosen with the first program, so an unused session costs nothing.
 * The session stays there, with its variables; when the server is lost, so is the session, and `run` throws `NoAnswer`.
 */
export class RemoteSession implements SandboxSession {
  readonly #openers: ReadonlyMap<SandboxServer, (signal?: AbortSignal) => Promise<SandboxSession>>;
  #opened: Promise<Opened> | undefined;

  /** @throws AgentRlError `SANDBOX_UNAVAILABLE` when the servers have no sessions */
  constructor(
    private readonly pool: SandboxPool,
    request: SessionRequest,
  ) {
    this.#openers = new Map(
      pool.servers.map((server) => [server, server.server.sessions(request)]),
    );
  }

  /** @throws NoAnswer */
  readonly run: SandboxSession['run'] = async (program, signal) => {
    this.#opened ??= this.#open();
    const { session, server } = await this.#opened;
    try {
      return await server.ask((either) => session.run(program, either), signal);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      this.pool.suspect(server, error);
      const why = withAddress(server.url, error.message).replace(/\.$/, '');
      throw new NoAnswer(`${why}. The session and its variables are lost`, { cause: error });
    }
  };

  /** @throws NoAnswer when the server does not confirm that the session is closed */
  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    if (opened === undefined) return;
    opened.server.sessions -= 1;
    await opened.session.close();
  }

  #open(): Promise<Opened> {
    return this.pool.anywhere('sessions', async (server) => {
      const open = this.#openers.get(server)!;
      server.sessions += 1;
      try {
        return { server, session: await server.ask((signal) => open(signal)) };
      } catch (error) {
        server.sessions -= 1;
        throw error;
      }
    });
  }
}
