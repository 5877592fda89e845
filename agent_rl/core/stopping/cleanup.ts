/** Things that were opened one after the other and are closed in the opposite order. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  /** Closes it when the rest is closed. @returns the thing itself */
  add<Thing extends { close(): unknown }>(thing: Thing): Thing {
    this.#steps.push(() => thing.close());
    return thing;
  }

  /** Runs a step when the rest is closed. */
  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Closes all, the last opened first, whatever fails on the way. @throws the first failure */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.splice(0).toReversed()) {
      try {
        await step();
      } catch (failure) {
        failures.push(failure);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Closes all after a failure that matters more than what then fails to close. */
  async abandon(): Promise<void> {
    await this.close().catch(() => undefined);
  }
}
