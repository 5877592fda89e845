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
 * A session on one of several servers, chosen with its first program, so that an unused session costs nothing. It stays
 * there: its variables are nowhere else. Where its server is lost, so is it, and `run` throws `NoAnswer`.
 */
export class RemoteSession implements SandboxSession {
  readonly #openers: ReadonlyMap<SandboxServer, (signal?: AbortSignal) => Promise<SandboxSession>>;
  #opened: Promise<Opened> | undefined;

  /** @throws AgentRlError `SANDBOX_UNAVAILABLE` where the servers have no sessions */
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
      throw new NoAnswer(`${why}. The variables of the session are lost with it`, { cause: error });
    }
  };

  /** @throws NoAnswer when its server does not confirm that it is closed */
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
