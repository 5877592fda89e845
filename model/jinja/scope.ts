import type { Value } from './values/value.ts';

/** The names of a part of a template; they shadow the names of the part around it. */
export class Scope {
  readonly #names = new Map<string, Value>();

  constructor(private readonly around?: Scope) {}

  get(name: string): Value | undefined {
    const value = this.#names.get(name);
    return value === undefined ? this.around?.get(name) : value;
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }
}
