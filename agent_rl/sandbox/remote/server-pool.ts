import { messageOf } from '../../core/errors.ts';
import { NoAnswer } from '../../http/http-client.ts';
import { leastBusy, type PoolChange, ServerPool } from '../../http/server-pool.ts';
import type { SandboxIncident } from '../incident.ts';
import { withAddress } from './open-server.ts';
import type { SandboxServer } from './sandbox-server.ts';

/** Deadline of a health check: the server's own process answers it, whatever its programs do. */
const checkDeadlineS = 10;
/** Failed health checks in a row before a server is given up until it answers again. */
const mostMissed = 2;

/**
 * Equivalent servers, so that no result depends on the server that runs the program. Each program goes to the least busy
 * server. When a server gives no answer, the program runs on another one, and the server gets no more programs until it
 * passes a health check and is still the server it was.
 */
export class SandboxPool extends ServerPool<SandboxServer> {
  constructor(
    servers: readonly SandboxServer[],
    checkS: number,
    private readonly onIncident: (incident: SandboxIncident) => void,
  ) {
    // A single server has no substitute.
    super(servers, { everyMs: 1000 * checkS, all: servers.length > 1 });
  }

  /**
   * Asks the server that is least busy with `of`, and then the others until one answers. Only for work that may be done
   * twice.
   *
   * @throws NoAnswer when no server answers, and anything else that `ask` throws
   */
  async anywhere<Result>(
    of: 'programs' | 'sessions',
    ask: (server: SandboxServer) => Promise<Result>,
  ): Promise<Result> {
    const left = new Set(this.servers);
    const problems: string[] = [];
    for (;;) {
      const server = leastBusyOf([...left], of);
      left.delete(server);
      try {
        return await ask(server);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        const why = withAddress(server.url, error.message);
        problems.push(why);
        this.suspect(server, error);
        if (left.size === 0) throw new NoAnswer(problems.join('; '), { cause: error });
        this.onIncident({
          kind: 'moved',
          message: `Retrying a program on another sandbox server: ${why}`,
        });
      }
    }
  }

  /** Takes out a server that gave no answer, until it passes a health check. A single server stays in. */
  suspect(server: SandboxServer, error: NoAnswer): void {
    if (this.servers.length === 1) return;
    this.takeOut(server, error.message);
    void this.look(server);
  }

  async end(): Promise<void> {
    this.close();
    await Promise.all(this.servers.map(({ http }) => http.close()));
  }

  protected override async problemOf({ server }: SandboxServer): Promise<string | undefined> {
    try {
      return await server.check(checkDeadlineS);
    } catch (error) {
      return messageOf(error);
    }
  }

  protected override looked(server: SandboxServer, problem: string | undefined): void {
    super.looked(server, problem);
    server.missed = problem === undefined ? 0 : server.missed + 1;
    if (problem === undefined || server.missed < mostMissed) return;
    this.takeOut(server, problem);
    // Without another server it is better to wait.
    if (this.up.length > 0) server.abandon(`given up: ${withAddress(server.url, problem)}`);
  }

  protected override report({ url, problem }: SandboxServer, change: PoolChange) {
    const what =
      change === 'back'
        ? 'is back in use.'
        : `is out of use until it answers again as it did at the start of the run: ${problem}`;
    this.onIncident({ kind: 'server', message: `The sandbox server ${url} ${what}` });
  }
}

/** The server with the smallest share of its places taken, among the servers that are up, or among all if all are down. */
function leastBusyOf(servers: readonly SandboxServer[], of: 'programs' | 'sessions') {
  const up = servers.filter(({ problem }) => problem === undefined);
  const [first, ...others] = up.length > 0 ? up : servers;
  return leastBusy(
    [first!, ...others],
    ({ sessions, running, server: { places } }) =>
      (of === 'sessions' ? sessions + running : running) / places,
  );
}
