import PQueue from 'p-queue';

import { AgentRlError } from '../../core/errors.ts';
import { type OwnedOptions, RoundRobinQueue } from './round-robin-queue.ts';

export interface FairQueueCounts {
  running: number;
  waiting: number;
  /** Longest that any job has waited so far, those that wait now included. */
  longestWaitMs: number;
}

/**
 * Hands out a number of slots. Owners that wait take turns, so one with a thousand jobs delays another by one job per
 * slot at most; the jobs of one owner start in the order they came.
 */
export class FairQueue {
  readonly #queue: PQueue<RoundRobinQueue, OwnedOptions>;
  /** When each waiting job came, oldest first. */
  readonly #cameAt = new Map<object, number>();
  #longestWaitMs = 0;

  /** @throws AgentRlError `CONFIG_INVALID` */
  constructor(
    slots: number,
    /** Milliseconds of a clock that never goes back. */
    private readonly now: () => number = () => performance.now(),
  ) {
    if (!Number.isInteger(slots) || slots < 1) {
      throw new AgentRlError(
        'CONFIG_INVALID',
        `The queue was given ${slots} slots; it needs a whole number of at least 1.`,
      );
    }
    this.#queue = new PQueue<RoundRobinQueue, OwnedOptions>({
      concurrency: slots,
      queueClass: RoundRobinQueue,
    });
  }

  /**
   * What `work` gives, once it had its turn. The signal ends the wait for a slot; work that has started keeps its slot
   * until it settles, however it treats the signal itself.
   *
   * @throws the signal's reason when it is aborted before the work starts, and what the work throws
   */
  async run<Result>(
    owner: string,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const job = {};
    // Its own signal: the queue would free the slot of running work whose signal is aborted.
    const wait = new AbortController();
    const stopWaiting = (): void => wait.abort(signal?.reason);
    signal?.addEventListener('abort', stopWaiting, { once: true });
    const leave = (): void => {
      signal?.removeEventListener('abort', stopWaiting);
      this.#stopCounting(job);
    };
    const begin = (): Promise<Result> => {
      leave();
      return work();
    };
    this.#cameAt.set(job, this.now());
    try {
      return await this.#queue.add(begin, { owner, signal: wait.signal });
    } finally {
      leave();
    }
  }

  get counts(): FairQueueCounts {
    const [oldest] = this.#cameAt.values();
    const waited = oldest === undefined ? 0 : this.now() - oldest;
    return {
      running: this.#queue.pending,
      waiting: this.#queue.size,
      longestWaitMs: Math.max(this.#longestWaitMs, waited),
    };
  }

  #stopCounting(job: object): void {
    const cameAt = this.#cameAt.get(job);
    if (cameAt === undefined) return;
    this.#cameAt.delete(job);
    this.#longestWaitMs = Math.max(this.#longestWaitMs, this.now() - cameAt);
  }
}
