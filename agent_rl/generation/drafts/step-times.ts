/** Steps between two that are done the other way, so that what both take stays known. */
const betweenTrials = 64;

/** Until so many of both kinds were measured, steps of more tokens a row are taken to be `firstRatio` times as long. */
const [leastMeasured, firstRatio] = [8, 2];

/** What a measured time counts after each other step. */
const kept = 0.98;

/** How many rows a step has, and the longest context of these. */
export interface StepSize {
  rows: number;
  places: number;
}

/** How long steps take, lately, by their size and by whether they feed guesses. What is drawn does not depend on it. */
export class StepTimes {
  readonly #times = [new Times(), new Times()] as const;
  #steps = 0;

  /** Whether to feed guesses in a step of which so many tokens more are expected to come for it. */
  pays(size: StepSize, saved: number): boolean {
    const [few, many] = this.#times;
    const known = Math.min(few.measured, many.measured) >= leastMeasured;
    const ratio = known ? many.of(size) / few.of(size) : firstRatio;
    const pays = size.rows + saved >= ratio * size.rows;
    this.#steps += 1;
    return this.#steps % betweenTrials === 0 ? !pays : pays;
  }

  add(size: StepSize, { guesses, seconds }: { guesses: boolean; seconds: number }): void {
    this.#times[guesses ? 1 : 0].add(size, seconds);
  }
}

/** Seconds as a sum of a part by itself, one for each row and one for each place of these: least squares, of late. */
class Times {
  measured = 0;
  /** Sums of products of what the seconds are made of, and of these with the seconds. */
  readonly #products = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  readonly #withSeconds = [0, 0, 0];

  add(size: StepSize, seconds: number): void {
    const parts = partsOf(size);
    this.measured += 1;
    for (const [i, part] of parts.entries()) {
      for (const [j, other] of parts.entries())
        this.#products[i]![j] = kept * this.#products[i]![j]! + part * other;
      this.#withSeconds[i] = kept * this.#withSeconds[i]! + part * seconds;
    }
  }

  of(size: StepSize): number {
    const weights = solved(this.#products, this.#withSeconds);
    const seconds = partsOf(size).reduce((sum, part, i) => sum + part * weights[i]!, 0);
    return Math.max(seconds, 1e-6);
  }
}

const partsOf = ({ rows, places }: StepSize): number[] => [1, rows / 16, (rows * places) / 4096];

/** Of symmetric equations. A little is added to the diagonal: steps may all have had one size. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, i) => [
    ...row.map((value, j) => (i === j ? value * 1.001 + 1e-9 : value)),
    right[i]!,
  ]);
  for (const [i, row] of rows.entries())
    for (const other of rows) {
      if (other === row) continue;
      const share = other[i]! / row[i]!;
      for (let j = i; j < row.length; j++) other[j]! -= share * row[j]!;
    }
  return rows.map((row, i) => row.at(-1)! / row[i]!);
}
