/** Steps between two that are done the other way, so that what both take stays known. */
const betweenTrials = 64;

/** Until both were measured, steps of more tokens a row are taken to be so many times as long. */
const firstRatio = 2;

/** Of a measured time, the share that the newest has. */
const newest = 0.1;

/** How long steps take, lately, by their rows and by whether they feed guesses. What is drawn does not depend on it. */
export class StepTimes {
  readonly #seconds = new Map<string, number>();
  #steps = 0;

  /** Whether to feed guesses to `rows` rows, where so many tokens more are expected to come of it in `slots` of them. */
  pays(rows: number, { saved, slots }: { saved: number; slots: number }): boolean {
    const [few, many] = [false, true].map((guesses) => this.#seconds.get(`${rows} ${guesses}`));
    const ratio = few === undefined || many === undefined ? firstRatio : many / few;
    const pays = slots + saved >= ratio * slots;
    this.#steps += 1;
    return this.#steps % betweenTrials === 0 ? !pays : pays;
  }

  add(rows: number, { guesses, seconds }: { guesses: boolean; seconds: number }): void {
    const key = `${rows} ${guesses}`;
    const known = this.#seconds.get(key) ?? seconds;
    this.#seconds.set(key, known + newest * (seconds - known));
  }
}
