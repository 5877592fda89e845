import type { Sampler } from '../../core/services/generator.ts';
import { Refusal } from '../../http/refusal.ts';

/**
 * The trainings that a server generates for. Their episodes keep rows of its cache between turns; what a training that
 * ended without a word has left is given up after a while, and computed anew should it come back.
 */
export class TrainingClients {
  /** By the name that the generator knows it by: when it was asked for last, in ms. */
  readonly #episodes = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  /** Whose weights are drawn from. */
  #owner: { client: string; seen: number } | undefined;

  constructor(
    private readonly sampler: Sampler,
    private readonly idleS: number,
  ) {
    this.#timer = setInterval(() => this.#sweep(), 1000 * Math.min(10, idleS));
    this.#timer.unref();
  }

  /** The name of an episode here. */
  used(client: string, episode: string): string {
    const name = `${client}/${episode}`;
    const now = Date.now();
    this.#episodes.set(name, now);
    if (this.#owner?.client === client) this.#owner.seen = now;
    return name;
  }

  release(client: string, episode: string): void {
    this.#release(`${client}/${episode}`);
  }

  /** Makes it the one whose weights are drawn from. @throws Refusal while another is */
  own(client: string): void {
    const now = Date.now();
    const isTaken =
      this.#owner !== undefined &&
      this.#owner.client !== client &&
      now - this.#owner.seen < 1000 * this.idleS;
    if (isTaken)
      throw new Refusal(409, 'Another training gives this server its weights. Start one for each.');
    this.#owner = { client, seen: now };
  }

  forget(client: string): void {
    for (const name of this.#episodes.keys())
      if (name.startsWith(`${client}/`)) this.#release(name);
    if (this.#owner?.client === client) this.#owner = undefined;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #release(name: string): void {
    this.#episodes.delete(name);
    this.sampler.release(name);
  }

  #sweep(): void {
    const since = Date.now() - 1000 * this.idleS;
    for (const [name, seen] of this.#episodes) if (seen < since) this.#release(name);
  }
}
