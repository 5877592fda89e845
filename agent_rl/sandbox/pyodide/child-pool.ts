import { ChildDied, SandboxChild } from './sandbox-child.ts';
import type { ChildRequest, ChildResult, ChildSettings } from './protocol.ts';

interface Job {
  request: Omit<ChildRequest, 'id'>;
  resolve: (result: ChildResult) => void;
  reject: (error: Error) => void;
  /** The one that runs it now. */
  child?: SandboxChild;
  deaths: ChildDied[];
  cancelled: boolean;
  answered: boolean;
}

/** Failed starts in a row after which a child is not started again. */
const mostFailedStarts = 3;

/** Two children in a row died while they ran a program, so the program is at fault. */
export class KilledItsChildren extends Error {
  constructor(last: Error) {
    super(`The program ended two interpreters in a row: ${last.message}`, { cause: last });
  }
}

/**
 * Child processes that share one queue, first come, first served. A program's deadline starts with the
 * program, not with the wait. A child that dies is replaced and its program is retried once, since the
 * program may not be at fault.
 */
export class ChildPool {
  readonly #queue: Job[] = [];
  readonly #idle: SandboxChild[] = [];
  readonly #children = new Set<SandboxChild>();
  #nextId = 1;
  #closed = false;
  #broken: Error | undefined;

  constructor(
    private readonly settings: ChildSettings,
    workers: number,
    private readonly make = (given: ChildSettings): SandboxChild => new SandboxChild(given),
  ) {
    for (let i = 0; i < workers; i++) this.#start(0);
  }

  /** Settles when one child can take a program. @throws Error when the first child that answers cannot start. */
  async firstReady(): Promise<void> {
    await Promise.race([...this.#children].map((child) => child.ready()));
  }

  /**
   * @throws KilledItsChildren when two children in a row died of the program; ChildDied when the program was cancelled, the
   * pool was closed, or one of two deaths came from outside.
   */
  async submit(request: Omit<ChildRequest, 'id'>, signal?: AbortSignal): Promise<ChildResult> {
    if (this.#broken) throw this.#broken;
    let cancel!: () => void;
    const result = new Promise<ChildResult>((resolve, reject) => {
      const job: Job = { request, resolve, reject, deaths: [], cancelled: false, answered: false };
      cancel = () => this.#cancel(job);
      this.#queue.push(job);
    });
    signal?.addEventListener('abort', cancel, { once: true });
    this.#pump();
    try {
      return await result;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) job.reject(new ChildDied('The sandbox was closed.'));
    await Promise.all([...this.#children].map((child) => child.end()));
  }

  #start(failedStarts: number): void {
    const child = this.make(this.settings);
    this.#children.add(child);
    let started = false;
    const offer = (): void => {
      started = true;
      this.#offer(child);
    };
    // `died` reports a child that never gets ready, too.
    void child.ready().then(offer, () => undefined);
    void child.died.then((death) => this.#replace(child, started ? 0 : failedStarts + 1, death));
  }

  #offer(child: SandboxChild): void {
    this.#idle.push(child);
    this.#pump();
  }

  #replace(child: SandboxChild, failedStarts: number, death: ChildDied): void {
    this.#children.delete(child);
    const place = this.#idle.indexOf(child);
    if (place >= 0) this.#idle.splice(place, 1);
    if (this.#closed) return;
    if (failedStarts < mostFailedStarts) this.#start(failedStarts);
    else if (this.#children.size === 0) {
      this.#broken = death;
      for (const job of this.#queue.splice(0)) job.reject(death);
    }
  }

  #pump(): void {
    while (this.#idle.length > 0 && this.#queue.length > 0) {
      const child = this.#idle.shift();
      const job = this.#queue.shift();
      if (child && job) void this.#run(child, job);
    }
  }

  async #run(child: SandboxChild, job: Job): Promise<void> {
    job.child = child;
    try {
      const result = await child.run({ ...job.request, id: this.#nextId++ });
      delete job.child;
      job.answered = true;
      job.resolve(result);
      await child.ready();
      this.#offer(child);
    } catch (error) {
      if (!job.answered) this.#retry(job, error as ChildDied);
    }
  }

  #retry(job: Job, death: ChildDied): void {
    delete job.child;
    job.deaths.push(death);
    if (job.cancelled || this.#closed) job.reject(death);
    else if (job.deaths.length > 1) {
      // A death that came from outside says nothing about the program.
      const outside = job.deaths.find(({ fromOutside }) => fromOutside);
      job.reject(outside ?? new KilledItsChildren(death));
    } else {
      this.#queue.unshift(job);
      this.#pump();
    }
  }

  #cancel(job: Job): void {
    job.cancelled = true;
    if (job.child) job.child.kill('the program was cancelled');
    const place = this.#queue.indexOf(job);
    if (place < 0) return;
    this.#queue.splice(place, 1);
    job.reject(new ChildDied('The program was cancelled before it started.'));
  }
}
