import PQueue from 'p-queue';

import type { StartGate } from '../web/rate-limit.ts';

/** Lets requests to one host start one after another, with the pause that it asks for. Retries wait here too. */
export class HostGates {
  readonly #queues = new Map<string, PQueue>();
  readonly #delays = new Map<string, number>();

  constructor(private readonly requestsPerSecond: number) {}

  /** A host's own wish, from its robots.txt; only ever makes requests rarer. */
  slowDown(host: string, delayS: number): void {
    if (delayS <= 1 / this.requestsPerSecond) return;
    this.#delays.set(host, delayS);
    this.#queues.delete(host);
  }

  of(host: string): StartGate {
    const queue = this.#queues.get(host) ?? this.#queueFor(host);
    return (signal) => queue.add(() => {}, { signal });
  }

  #queueFor(host: string): PQueue {
    const interval = 1000 * (this.#delays.get(host) ?? 1 / this.requestsPerSecond);
    // A sliding window: a fixed one would let two requests start around its edge.
    const queue = new PQueue({ concurrency: 1, intervalCap: 1, interval, strict: true });
    this.#queues.set(host, queue);
    return queue;
  }
}
