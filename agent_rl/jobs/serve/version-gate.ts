import PQueue from 'p-queue';

/** Lets turns through while the weights stay what they are. */
export class VersionGate {
  readonly #turns = new PQueue();

  turn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.add(work);
  }

  /** Does work when the turns under way have ended and before the next begin. */
  async between<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#turns.pause();
    try {
      await this.#turns.onPendingZero();
      return await work();
    } finally {
      this.#turns.start();
    }
  }
}
