/** Reads a clock that only goes forward, in milliseconds. */
export type Clock = () => number;

/** Seconds by activity. Activities that overlap each count in full. */
export class Stopwatch<Activity extends string = string> {
  readonly #seconds = new Map<Activity, number>();
  readonly #clock: Clock;
  #since: number;

  constructor(clock: Clock = () => performance.now()) {
    this.#clock = clock;
    this.#since = clock();
  }

  /** Runs an action and counts its seconds, also when it throws. */
  async time<Result>(activity: Activity, action: () => Promise<Result> | Result): Promise<Result> {
    const start = this.#clock();
    try {
      return await action();
    } finally {
      this.add(activity, (this.#clock() - start) / 1000);
    }
  }

  add(activity: Activity, seconds: number): void {
    this.#seconds.set(activity, this.seconds(activity) + seconds);
  }

  seconds(activity: Activity): number {
    return this.#seconds.get(activity) ?? 0;
  }

  /** Seconds since the last lap, with what was counted in them; the counts start again at 0. */
  lap(): { total: number; by: Readonly<Partial<Record<Activity, number>>> } {
    const now = this.#clock();
    const total = (now - this.#since) / 1000;
    const by = Object.fromEntries(this.#seconds) as Partial<Record<Activity, number>>;
    this.#seconds.clear();
    this.#since = now;
    return { total, by };
  }
}
