import { messageOf } from '../../core/errors.ts';
import { NoAnswer } from '../../http/http-client.ts';
import { leastBusy, type PoolChange, ServerPool } from '../../http/server-pool.ts';
import type { SandboxIncident } from '../incident.ts';
import { withAddress } from './open-server.ts';
import type { SandboxServer } from './sandbox-server.ts';

/** A look at a server takes this long at most: its own process answers, whatever its programs do. */
const checkDeadlineS = 10;
/** After this many failed looks in a row a server is given up until it answers again. */
const mostMissed = 2;

/**
 * Servers that are alike, so that no result depends on which of them a program runs on. Each program goes to the one that is
 * least busy; where a server gives no answer, the program runs on another, and the server gets no more of them until it
 * answers a look and is still what it was.
 */
export class SandboxPool extends ServerPool<SandboxServer> {
  constructor(
    servers: readonly SandboxServer[],
    checkS: number,
    private readonly onIncident: (incident: SandboxIncident) => void,
  ) {
    // Where there is one, no other could do its work.
    super(servers, { everyMs: 1000 * checkS, all: servers.length > 1 });
  }

  /**
   * Asks the server that is least busy with `of`, and those that are left where it gives no answer. To be used only for what
   * may be done twice.
   *
   * @throws NoAnswer where none gives an answer, and what else is thrown
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
          message: `A program is run on another server of the sandbox: ${why}`,
        });
      }
    }
  }

  /** Leaves a server out that gave no answer, until it passes a look. The only one is asked again and again. */
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
    // Where no other could do it, it is better waited for.
    if (this.up.length > 0) server.abandon(`given up: ${withAddress(server.url, problem)}`);
  }

  protected override report({ url, problem }: SandboxServer, change: PoolChange) {
    const what =
      change === 'back'
        ? 'answers and is used again.'
        : `is left out until it answers as before: ${problem}`;
    this.onIncident({ kind: 'server', message: `The sandbox's server ${url} ${what}` });
  }
}

/** Of those that are up, or of all where none is, the one with the smallest share of its places taken. */
function leastBusyOf(servers: readonly SandboxServer[], of: 'programs' | 'sessions') {
  const up = servers.filter(({ problem }) => problem === undefined);
  const [first, ...others] = up.length > 0 ? up : servers;
  return leastBusy(
    [first!, ...others],
    ({ sessions, running, server: { places } }) =>
      (of === 'sessions' ? sessions + running : running) / places,
  );
}
