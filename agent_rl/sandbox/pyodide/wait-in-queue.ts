import type PQueue from 'p-queue';

/**
 * Does the work when its turn comes. Aborting ends the wait, never the work: p-queue's own signal would hand the place of
 * work that still goes on to the next.
 *
 * @throws the signal's reason, and what the work throws.
 */
export async function waitInQueue<Result>(
  queue: PQueue,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  signal?.throwIfAborted();
  return await new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal?.reason as Error);
    signal?.addEventListener('abort', giveUp, { once: true });
    void queue.add(async () => {
      signal?.removeEventListener('abort', giveUp);
      if (signal?.aborted !== true) await work().then(resolve, reject);
    });
  });
}
