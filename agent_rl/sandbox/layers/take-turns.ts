import { AgentRlError } from '../../core/errors.ts';
import type { Layer } from './layer.ts';

/**
 * Hands out a number of slots. Owners that wait take turns, so one with a thousand jobs delays another by one job per
 * slot at most; the jobs of one owner start in the order they came.
 */
export class FairQueue {
  /** Starts of the waiting jobs by owner, in the order of the owners' turns; an owner that waits for nothing is absent. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #free: number;

  /** @throws AgentRlError `CONFIG_INVALID` */
  constructor(slots: number) {
    if (!Number.isInteger(slots) || slots < 1) {
      throw new AgentRlError(
        'CONFIG_INVALID',
        `The queue was given ${slots} slots; it needs a whole number of at least 1.`,
      );
    }
    this.#free = slots;
  }

  /**
   * The result of `work`, which starts when its turn comes. The signal ends the wait for a slot; work that has started
   * keeps its slot until it settles, however it treats the signal itself.
   *
   * @throws the signal's reason when it is aborted before the work starts, and what the work throws
   */
  async run<Result>(
    owner: string,
    signal: AbortSignal | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(owner, signal);
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #turn(owner: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const jobs = this.#waiting.get(owner) ?? [];
      const start = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        jobs.splice(jobs.indexOf(start), 1);
        if (jobs.length === 0) this.#waiting.delete(owner);
        reject(signal?.reason as Error);
      };
      jobs.push(start);
      this.#waiting.set(owner, jobs);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  #passOn(): void {
    const [turn] = this.#waiting;
    if (turn === undefined) {
      this.#free++;
      return;
    }
    const [owner, jobs] = turn;
    const start = jobs.shift();
    // To the end of the owners' line, if more of its jobs wait.
    this.#waiting.delete(owner);
    if (jobs.length > 0) this.#waiting.set(owner, jobs);
    start?.();
  }
}

/** Owner of requests that name no rollout. */
const noOwner = '';

/**
 * Runs as many programs at once as the queue has slots; the others wait, and rollouts take turns. A program's deadline
 * starts with the program, however long it waited.
 */
export const takeTurns = (queue: FairQueue): Layer => ({
  execute: (next) => (request, signal) =>
    queue.run(request.owner ?? noOwner, signal, () => next(request, signal)),
  openSession:
    (next) =>
    (request = {}) => {
      const session = next(request);
      return {
        run: (program, signal) =>
          queue.run(request.owner ?? noOwner, signal, () => session.run(program, signal)),
        close: () => session.close(),
      };
    },
});
