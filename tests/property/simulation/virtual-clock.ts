import { setImmediate } from 'node:timers/promises';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';

/** The process was killed. */
export class Killed extends Error {}

/** What nothing will wake up. */
class Deadlock extends Error {}

interface Sleeper {
  at: number;
  order: number;
  wake: () => void;
}

/** Milliseconds without anything to wake up, after which not even a file is under way. */
const idleMs = 1000;

/** Time that passes when nothing else can happen. Each sleep is a place at which the process may be killed. */
export class VirtualClock {
  now = 0;
  sleeps = 0;
  #sleepers: Sleeper[] = [];
  readonly #random: KeyedRng;

  /** @param killAt the sleep at which the process is killed */
  constructor(
    seed: string,
    private readonly killAt = Infinity,
  ) {
    this.#random = new KeyedRng('clock', seed);
  }

  /** Some time passes; how much depends on the seed alone. */
  async sleep(): Promise<void> {
    this.sleeps += 1;
    const at = this.now + 1 + this.#random.integer(50);
    await new Promise<void>((wake) => this.#sleepers.push({ at, order: this.sleeps, wake }));
  }

  /** @throws Killed, Deadlock, and what the work throws */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    const over = { is: false };
    const ends = work.finally(() => (over.is = true));
    ends.catch(() => undefined);
    let awake = performance.now();
    while (!over.is) {
      await setImmediate();
      if (this.sleeps >= this.killAt) throw new Killed();
      if (this.#wake()) awake = performance.now();
      else if (!over.is && performance.now() - awake > idleMs) throw new Deadlock();
    }
    return ends;
  }

  /** Wakes up what sleeps shortest. @returns whether anything sleeps */
  #wake(): boolean {
    const [next] = this.#sleepers.toSorted((a, b) => a.at - b.at || a.order - b.order);
    if (next === undefined) return false;
    this.#sleepers = this.#sleepers.filter((one) => one !== next);
    this.now = next.at;
    next.wake();
    return true;
  }
}
