/**
 * What a template may do: a model's template is a program by its author, and its rendering must end.
 * A step is a node that is evaluated, an item that is looked at, or 16 characters.
 */

// Where a template looks back from every message, as Gemma 4's does, 400 messages take two million, and 1,200 the most.
const steps = { least: 4_000_000, perCharacter: 200, most: 20_000_000 };
const textLength = { least: 2 ** 20, perCharacter: 16 };
const mostItems = 2 ** 20;
/** Macros in macros, and lists in lists. */
const mostDepth = 200;

export class Budget {
  readonly #mostSteps: number;
  readonly #longest: number;
  #left: number;
  #depth = 0;

  /** @param given characters of the conversation that is rendered */
  constructor(given: number) {
    this.#mostSteps = Math.min(steps.most, steps.least + steps.perCharacter * given);
    this.#longest = textLength.least + textLength.perCharacter * given;
    this.#left = this.#mostSteps;
  }

  /** @throws RangeError when fewer steps are left */
  spend(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new RangeError(`it did not finish within ${this.#mostSteps} steps`);
  }

  /** Pays for a text of a length before it is made. */
  text(length: number): void {
    if (length > this.#longest) throw beyond(`a text has ${length} characters`, this.#longest);
    this.spend(length / 16);
  }

  /** A text that joins others costs what it adds, and may be no longer than any. */
  joined(text: string): string {
    if (text.length > this.#longest)
      throw beyond(`a text has ${text.length} characters`, this.#longest);
    return text;
  }

  /** Pays for a list of a length before it is made. */
  items(length: number): void {
    if (length > mostItems) throw beyond(`a list has ${length} items`, mostItems);
    this.spend(length);
  }

  /** Does what may do itself again. */
  nested<Result>(action: () => Result): Result {
    this.spend(1);
    if (++this.#depth > mostDepth) throw beyond('it is nested', mostDepth);
    try {
      return action();
    } finally {
      this.#depth--;
    }
  }
}

const beyond = (seen: string, most: number): RangeError =>
  new RangeError(`${seen}; at most ${most} are allowed`);
