import { Refusal } from '../../../http/refusal.ts';
import type { Places } from '../../../gateway/sampling/places.ts';

/**
 * The trainings that a server generates for. What a training that ended without a word has left is given up after a while, and
 * computed anew should it come back.
 */
export class TrainingClients {
  readonly #timer: NodeJS.Timeout;
  /** Whose weights are drawn from. */
  #owner: { client: string; seen: number } | undefined;

  constructor(
    private readonly places: Places,
    private readonly idleS: number,
  ) {
    this.#timer = setInterval(() => this.#sweep(), 1000 * Math.min(10, idleS));
    this.#timer.unref();
  }

  /** A turn of a client's episode, whose name `work` receives. */
  async turn<Result>(
    { client, episode, signal }: { client: string; episode: string; signal: AbortSignal },
    work: (name: string) => Promise<Result>,
  ): Promise<Result> {
    const name = nameOf(client, episode);
    try {
      return await this.places.turn({ client, episode: name, signal }, () => {
        this.#seen(client);
        return work(name);
      });
    } finally {
      this.#seen(client);
    }
  }

  release(client: string, episode: string): void {
    this.places.release(nameOf(client, episode));
  }

  /** Makes it the one whose weights are drawn from. @throws Refusal while another is */
  own(client: string): void {
    const now = Date.now();
    const { client: owner, seen } = this.#owner ?? { client, seen: now };
    const silentS = (now - seen) / 1000;
    if (owner !== client && silentS < this.idleS)
      throw new Refusal(
        409,
        `Another training run is using this server; its last request was ${Math.floor(silentS)} s ago. This server drops a run after ${this.idleS} s without requests (--timeout). Start one server per training run.`,
      );
    this.#owner = { client, seen: now };
  }

  forget(client: string): void {
    this.places.releaseWhere((name) => name.startsWith(nameOf(client, '')));
    if (this.#owner?.client === client) this.#owner = undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #seen(client: string): void {
    if (this.#owner?.client === client) this.#owner.seen = Date.now();
  }

  #sweep(): void {
    this.places.releaseIdle(Date.now() - 1000 * this.idleS);
  }
}

const nameOf = (client: string, episode: string): string => `${client}/${episode}`;
