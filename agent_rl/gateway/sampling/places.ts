import { FairQueue } from '../../sandbox/layers/take-turns.ts';

interface Held {
  /** Under way. */
  turns: number;
  /** When its last turn ended, in ms. */
  since: number;
}

/** Who asks for a turn, and of which episode. */
export interface TurnRequest {
  /** Clients take turns, so that one with many requests holds up another by one turn at most. */
  client: string;
  episode: string;
  signal?: AbortSignal | undefined;
}

/** The counts that `/health` reports. */
export interface PlaceCounts {
  all: number;
  /** Where a turn is under way. */
  used: number;
  /** Kept for the next turn of an episode. */
  idle: number;
  /** Turns that wait for a place. */
  waiting: number;
}

/**
 * The places of a generator's cache. An episode keeps its place between two turns, unless another episode needs it: then the one
 * that has been idle longest gives way, and its next turn computes its context anew.
 */
export class Places {
  readonly #turns: FairQueue;
  /** Those idle longest come first. */
  readonly #held = new Map<string, Held>();
  readonly #gate = new VersionGate();
  #waiting = 0;

  constructor(
    private readonly all: number,
    private readonly free: (episode: string) => void,
  ) {
    this.#turns = new FairQueue(all);
  }

  get counts(): PlaceCounts {
    const used = [...this.#held.values()].filter(({ turns }) => turns > 0).length;
    return { all: this.all, used, idle: this.#held.size - used, waiting: this.#waiting };
  }

  /** @throws the signal's reason where it is aborted before its turn comes, and what the work throws */
  async turn<Result>(
    { client, episode, signal }: TurnRequest,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const waits = { count: 1 };
    this.#waiting += 1;
    const begin = (): void => {
      this.#waiting -= waits.count;
      waits.count = 0;
    };
    try {
      return await this.#turns.run(client, signal, () => {
        begin();
        return this.#taking(episode, () => this.#gate.turn(work));
      });
    } finally {
      begin();
    }
  }

  release(episode: string): void {
    this.#held.delete(episode);
    this.free(episode);
  }

  /** Releases the episodes whose last turn ended before that, in ms; never one that has a turn under way. */
  releaseIdle(before = Infinity): void {
    for (const [episode, { turns, since }] of this.#held)
      if (turns === 0 && since < before) this.release(episode);
  }

  releaseWhere(is: (episode: string) => boolean): void {
    for (const episode of [...this.#held.keys()].filter(is)) this.release(episode);
  }

  /** Does what changes the weights, between the turns. It gives up what the places hold. */
  between<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#gate.between(async () => {
      const result = await work();
      this.releaseIdle();
      return result;
    });
  }

  async #taking<Result>(episode: string, work: () => Promise<Result>): Promise<Result> {
    const held = this.#held.get(episode) ?? this.#make(episode);
    held.turns += 1;
    try {
      return await work();
    } finally {
      held.turns -= 1;
      held.since = Date.now();
      // Unless it was released meanwhile.
      if (this.#held.get(episode) === held) {
        this.#held.delete(episode);
        this.#held.set(episode, held);
      }
    }
  }

  #make(episode: string): Held {
    const idle = [...this.#held].find(([, { turns }]) => turns === 0)?.[0];
    if (this.#held.size >= this.all && idle !== undefined) this.release(idle);
    const held = { turns: 0, since: 0 };
    this.#held.set(episode, held);
    return held;
  }
}

/** Lets turns through while the weights stay what they are. */
export class VersionGate {
  #underWay = 0;
  /** Ends when the weights have changed. */
  #changing: Promise<unknown> | undefined;
  #settled: (() => void) | undefined;

  async turn<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#changing !== undefined) await this.#changing;
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#settled?.();
    }
  }

  /** Does work when the turns under way have ended and before the next begin. */
  async between<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#changing !== undefined) await this.#changing;
    const changed = this.#change(work);
    this.#changing = changed.catch(() => undefined);
    try {
      return await changed;
    } finally {
      this.#changing = undefined;
    }
  }

  async #change<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#settled = resolve));
    this.#settled = undefined;
    return work();
  }
}
