import { type Budget, Undecided } from './undecided.ts';

/** A place in a text that is read from left to right. */
export class TextCursor {
  #at = 0;
  /** Groups that are open. */
  depth = 0;
  /** Brackets of lists that are open: a comma may then separate numbers. */
  brackets = 0;

  constructor(
    readonly text: string,
    readonly budget: Budget,
  ) {}

  get place(): number {
    return this.#at;
  }

  /** Goes back to where an answer began. */
  backTo(place: number): void {
    this.#at = place;
    this.depth = 0;
  }

  /** What stands next, after spaces, if it matches. */
  peek(expression: RegExp): RegExpExecArray | undefined {
    while (/\s/u.test(this.text[this.#at] ?? '')) this.#at++;
    expression.lastIndex = this.#at;
    return expression.exec(this.text) ?? undefined;
  }

  /** Takes what stands next if it matches. */
  take(expression: RegExp): RegExpExecArray | undefined {
    const found = this.peek(expression);
    if (found !== undefined) this.#at = expression.lastIndex;
    return found;
  }

  next(expression: RegExp): boolean {
    return this.peek(expression) !== undefined;
  }

  /** @throws Undecided unless it stands next */
  need(expression: RegExp): void {
    if (!this.take(expression))
      throw new Undecided(`${expression.source} is missing at ${this.#at}.`);
  }
}
