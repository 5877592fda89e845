import { messageOf } from '../../core/errors.ts';
import { NoAnswer } from '../../http/http-client.ts';
import type { SandboxIncident } from '../incident.ts';
import { withAddress } from './open-server.ts';
import type { PooledServer } from './pooled-server.ts';

export interface ServerPoolOptions {
  /** Seconds between looks at each server. */
  checkS: number;
  onIncident: (incident: SandboxIncident) => void;
}

/** A look at a server takes this long at most: its own process answers, whatever its programs do. */
const checkDeadlineS = 10;
/** So many looks in vain, one after another, and a server is given up until it answers again. */
const mostMissed = 2;

/**
 * Servers that are alike, so that no result depends on which of them a program runs on. Each program goes to the one that is
 * least busy; where a server gives no answer, the program runs on another, and the server gets no more of them until it
 * answers a look and is still what it was.
 */
export class ServerPool {
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #checking = new Set<PooledServer>();
  #closed = false;

  constructor(
    readonly servers: readonly [PooledServer, ...PooledServer[]],
    private readonly options: ServerPoolOptions,
  ) {
    // What one server does not answer, nobody else does.
    if (servers.length === 1) return;
    this.#timer = setInterval(() => {
      for (const server of servers) void this.#look(server);
    }, 1000 * options.checkS).unref();
  }

  /**
   * Asks the server that is least busy with `of`, and those that are left where it gives no answer. To be used only for what
   * may be done twice.
   *
   * @throws NoAnswer where none gives an answer, and what else is thrown
   */
  async anywhere<Result>(
    of: 'programs' | 'sessions',
    ask: (server: PooledServer) => Promise<Result>,
  ): Promise<Result> {
    const left = new Set(this.servers);
    const problems: string[] = [];
    for (;;) {
      const server = leastBusy([...left], of);
      left.delete(server);
      try {
        return await ask(server);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        const why = withAddress(server.url, error.message);
        problems.push(why);
        this.suspect(server, error);
        if (left.size === 0) throw new NoAnswer(problems.join('; '), { cause: error });
        this.options.onIncident({
          kind: 'moved',
          message: `A program is run on another server of the sandbox: ${why}`,
        });
      }
    }
  }

  /** Leaves a server out that gave no answer, until it passes a look. The only one is asked again and again. */
  suspect(server: PooledServer, error: NoAnswer): void {
    if (this.servers.length === 1) return;
    this.#leaveOut(server, error.message);
    void this.#look(server);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await Promise.all(this.servers.map((server) => server.close()));
  }

  async #look(server: PooledServer): Promise<void> {
    if (this.#checking.has(server) || this.#closed) return;
    this.#checking.add(server);
    const problem = await problemOf(server);
    this.#checking.delete(server);
    if (this.#closed) return;
    if (problem === undefined) this.#takeIn(server);
    else this.#miss(server, problem);
  }

  #takeIn(server: PooledServer): void {
    server.missed = 0;
    if (server.isUp) return;
    server.isUp = true;
    this.#report(`The sandbox's server ${server.url} answers and is used again.`);
  }

  #miss(server: PooledServer, problem: string): void {
    server.missed += 1;
    if (server.missed < mostMissed) return;
    this.#leaveOut(server, problem);
    // Where no other could do it, it is better waited for.
    if (this.servers.some(({ isUp }) => isUp))
      server.abandon(`given up: ${withAddress(server.url, problem)}`);
  }

  #leaveOut(server: PooledServer, why: string): void {
    if (!server.isUp) return;
    server.isUp = false;
    this.#report(
      `The sandbox's server ${server.url} is left out until it answers as before: ${why}`,
    );
  }

  #report(message: string): void {
    this.options.onIncident({ kind: 'server', message });
  }
}

async function problemOf({ server }: PooledServer): Promise<string | undefined> {
  try {
    return await server.check(checkDeadlineS);
  } catch (error) {
    return messageOf(error);
  }
}

/** Of those that are up, or of all where none is, the one with the smallest share of its places taken; the first of several. */
function leastBusy(servers: readonly PooledServer[], of: 'programs' | 'sessions'): PooledServer {
  const up = servers.filter(({ isUp }) => isUp);
  const share = ({ sessions, running, server: { places } }: PooledServer): number =>
    (of === 'sessions' ? sessions + running : running) / places;
  return (up.length > 0 ? up : servers).reduce((least, one) =>
    share(one) < share(least) ? one : least,
  );
}
