import type { Sandbox, SandboxSession, SessionRun } from '../../core/services/sandbox.ts';
import { FairQueue, type FairQueueCounts } from './fair-queue.ts';

/** Of requests that name no rollout. */
const nobody = '';

/**
 * A sandbox that runs so many programs at once and lets the others wait, rollouts in turn. A program's deadline starts
 * with the program: however long it waits, it has all of its time.
 */
export class QueuedSandbox implements Sandbox {
  readonly #queue: FairQueue;

  constructor(
    private readonly inner: Sandbox,
    private readonly slots: number,
  ) {
    this.#queue = new FairQueue(slots);
  }

  get counts(): FairQueueCounts {
    return this.#queue.counts;
  }

  run: Sandbox['run'] = (request, signal) =>
    this.#queue.run(request.owner ?? nobody, signal, () => this.inner.run(request, signal));

  calls: Sandbox['calls'] = (request, signal) =>
    this.#queue.run(request.owner ?? nobody, signal, () => this.inner.calls(request, signal));

  judge: Sandbox['judge'] = (request, signal) =>
    this.#queue.run(request.owner ?? nobody, signal, () => this.inner.judge(request, signal));

  openSession: Sandbox['openSession'] = (request = {}) => {
    const session = this.inner.openSession(request);
    const run: SandboxSession['run'] = (program, signal): Promise<SessionRun> =>
      this.#queue.run(request.owner ?? nobody, signal, () => session.run(program, signal));
    return { run, close: () => session.close() };
  };

  capabilities: Sandbox['capabilities'] = () => ({
    ...this.inner.capabilities(),
    concurrency: this.slots,
  });

  close: Sandbox['close'] = () => this.inner.close();
}
