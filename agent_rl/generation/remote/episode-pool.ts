import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '../../core/errors.ts';
import { leastBusy, type PoolChange, ServerPool } from '../../http/server-pool.ts';
import type { RemoteServer } from './remote-server.ts';
import { generationFailed, isPassing, ServerGone } from './server-failures.ts';

export interface EpisodePoolOptions {
  servers: readonly RemoteServer[];
  /** What answers 200 when a server is there. */
  healthPath: string;
  /** Seconds that all servers may be out of reach. */
  patienceS: number;
  /** Gives a server that is back what it is to draw from. @throws what keeps it from being asked */
  ready: (server: RemoteServer) => Promise<void>;
  /** Told of each server that is taken out or comes back. */
  warn: (text: string) => void;
}

/**
 * The servers that a generator draws from. An episode stays with one, which keeps what it has computed for its earlier turns, and
 * goes to another when that one is taken out. New episodes go where the fewest requests are.
 */
export class EpisodePool extends ServerPool<RemoteServer> {
  readonly #homes = new Map<string, RemoteServer>();
  /** When the last server was taken out. */
  #emptySince = 0;

  constructor(private readonly options: EpisodePoolOptions) {
    super(options.servers, { everyMs: watchMs });
  }

  /** @throws AgentRlError `GENERATION_FAILED` when none is there for longer than the patience; the signal's reason */
  async serverOf(episode: string, signal?: AbortSignal): Promise<RemoteServer> {
    for (;;) {
      signal?.throwIfAborted();
      const home = this.#homes.get(episode);
      if (home !== undefined && home.problem === undefined) return home;
      const [first, ...others] = this.up;
      if (first !== undefined) {
        const chosen = leastBusy([first, ...others], (server) => this.#share(server));
        this.#homes.set(episode, chosen);
        return chosen;
      }
      this.#requirePatience();
      await sleep(lookMs, undefined, { signal });
    }
  }

  /** Returns when a server can be asked. @throws as `serverOf` */
  async oneUp(signal?: AbortSignal): Promise<void> {
    const name = 'whichever is there';
    await this.serverOf(name, signal);
    this.release(name);
  }

  release(episode: string): void {
    this.#homes.delete(episode);
  }

  /** After a connection broke: an idle one that the server closed does, too, and is no reason to take the server out. */
  async suspect(server: RemoteServer, why: string, signal?: AbortSignal): Promise<void> {
    if (server.problem !== undefined) return;
    if (await this.#answers(server, signal))
      this.options.warn(`${why} The server still responds; retrying.`);
    else this.takeOut(server, why);
  }

  /** Episodes are long: one that asks for nothing at the moment will ask again. */
  #share(server: RemoteServer): number {
    return [...this.#homes.values()].filter((home) => home === server).length + server.load;
  }

  #requirePatience(): void {
    const { servers, patienceS } = this.options;
    const isLost = servers.every((server) => !this.isWatched(server));
    if (!isLost && performance.now() - this.#emptySince < 1000 * patienceS) return;
    const why = servers.map(({ url, problem }) => `${url}: ${problem}`).join(' ');
    throw generationFailed(`No server of the generator is available. ${why}`);
  }

  protected override report({ url, problem }: RemoteServer, change: PoolChange) {
    const { patienceS, warn } = this.options;
    if (change === 'back') return warn(`${url} is back in use.`);
    if (change === 'given-up') return warn(`${url} stays out of use: ${problem}`);
    const left = this.up.length;
    if (left === 0) this.#emptySince = performance.now();
    const then =
      left === 0
        ? `No server is left; waiting up to ${patienceS} s.`
        : `Its episodes continue on the other ${left === 1 ? 'server' : `${left} servers`}.`;
    warn(`${url} is out of use: ${problem} ${then}`);
  }

  async #answers(server: RemoteServer, signal: AbortSignal | undefined): Promise<boolean> {
    const { healthPath: path } = this.options;
    try {
      const { status } = await server.send({ method: 'GET', path, deadlineS: healthS }, signal);
      return status === 200;
    } catch (thrown) {
      if (thrown instanceof ServerGone) return false;
      throw thrown;
    }
  }

  /** @throws what keeps a server that is there from being asked */
  protected override async problemOf(server: RemoteServer, signal: AbortSignal) {
    if (!(await this.#answers(server, signal))) return 'it does not respond';
    try {
      await this.options.ready(server);
      return undefined;
    } catch (thrown) {
      // One that warms up says so, or gives an answer that cannot be used.
      if (isPassing(thrown)) return messageOf(thrown);
      throw thrown;
    }
  }
}

/** Between two looks at whether any server is back. */
const lookMs = 100;
/** Between two questions to a server that is out. */
const watchMs = 1000;
const healthS = 10;
