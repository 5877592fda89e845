import type { Queue, QueueAddOptions } from 'p-queue';

type Start = () => Promise<unknown>;

export interface OwnedOptions extends QueueAddOptions {
  owner?: string;
}

interface Waiting {
  id: string | undefined;
  start: Start;
}

/** The order of a `PQueue`: owners in turn, first come first served among the jobs of one owner. */
export class RoundRobinQueue implements Queue<Start, OwnedOptions> {
  /** In the order of their turns; an owner without waiting jobs is not in it. */
  readonly #owners = new Map<string, Waiting[]>();
  size = 0;

  enqueue(start: Start, { owner = '', id }: OwnedOptions = {}): void {
    const jobs = this.#owners.get(owner);
    if (jobs === undefined) this.#owners.set(owner, [{ id, start }]);
    else jobs.push({ id, start });
    this.size += 1;
  }

  dequeue(): Start | undefined {
    const [turn] = this.#owners;
    if (turn === undefined) return undefined;
    const [owner, jobs] = turn;
    const next = jobs.shift();
    this.size -= 1;
    this.#owners.delete(owner);
    if (jobs.length > 0) this.#owners.set(owner, jobs);
    return next?.start;
  }

  remove(id: string): void {
    for (const [owner, jobs] of this.#owners) {
      const place = jobs.findIndex((job) => job.id === id);
      if (place < 0) continue;
      jobs.splice(place, 1);
      this.size -= 1;
      if (jobs.length === 0) this.#owners.delete(owner);
      return;
    }
  }

  filter(): Start[] {
    return [...this.#owners.values()].flat().map(({ start }) => start);
  }

  setPriority(): never {
    throw new Error('Owners take turns; nothing here has a priority.');
  }
}
