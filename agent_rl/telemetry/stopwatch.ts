import { spanned } from '../core/profile/spans.ts';

/** Reads a clock that only goes forward, in milliseconds. */
export type Clock = () => number;

export interface StopwatchOptions {
  clock?: Clock;
  /** Where a profile shows the activities. */
  shown?: { track: string; group?: string };
}

/** Seconds since it was made, and the seconds of activities in it. Activities that overlap each count in full. */
export class Stopwatch<Activity extends string = never> {
  readonly seconds: Record<Activity, number>;
  readonly #started: number;
  readonly #clock: Clock;
  readonly #shown: StopwatchOptions['shown'];

  constructor(
    activities: readonly Activity[] = [],
    { clock = () => performance.now(), shown }: StopwatchOptions = {},
  ) {
    this.#clock = clock;
    this.#shown = shown;
    this.seconds = Object.fromEntries(activities.map((name) => [name, 0])) as typeof this.seconds;
    this.#started = clock();
  }

  get total(): number {
    return (this.#clock() - this.#started) / 1000;
  }

  /** Runs an action and counts its seconds, also when it throws. */
  async time<Result>(activity: Activity, action: () => Promise<Result> | Result): Promise<Result> {
    const start = this.#clock();
    try {
      if (this.#shown === undefined) return await action();
      return await spanned({ ...this.#shown, name: activity }, async () => action());
    } finally {
      this.seconds[activity] += (this.#clock() - start) / 1000;
    }
  }
}
