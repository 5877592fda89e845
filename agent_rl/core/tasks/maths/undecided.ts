/** Thrown where a text is no expression that can be read, or takes more work than it may: its answer is undecided. */
export class Undecided extends Error {}

/** What one answer may cost, in products of terms and in 64-bit words of numbers. */
const mostSteps = 20_000;
/** Size of the largest number: one of 1,000 digits. */
const mostSize = 10n ** 1000n;

/** Counts the work on one answer. The count depends on the text alone, so that a verdict never depends on the machine. */
export class Budget {
  #left = mostSteps;

  /** @throws Undecided where no more work may be done */
  spend(steps: number): void {
    this.#left -= steps;
    if (!(this.#left >= 0)) throw new Undecided('The calculation takes too many steps.');
  }

  /** Counts a number by its length. */
  number(...sizes: readonly bigint[]): void {
    for (const size of sizes) {
      if (size > mostSize || -size > mostSize) throw new Undecided('A number is too long.');
      this.spend(1 + Math.floor(size.toString(16).length / 16));
    }
  }
}
