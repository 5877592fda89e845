import type { SessionRun } from '../../core/services/sandbox.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Layer } from './layer.ts';

/** Of requests that name no rollout. */
const nobody = '';

/**
 * Runs so many programs at once as the queue has slots and lets the others wait, rollouts in turn. A program's deadline
 * starts with the program: however long it waits, it has all of its time.
 */
export const takeTurns = (queue: FairQueue): Layer => ({
  execute: (next) => (request, signal) =>
    queue.run(request.owner ?? nobody, signal, () => next(request, signal)),
  openSession:
    (next) =>
    (request = {}) => {
      const session = next(request);
      return {
        run: (program, signal): Promise<SessionRun> =>
          queue.run(request.owner ?? nobody, signal, () => session.run(program, signal)),
        close: () => session.close(),
      };
    },
});
