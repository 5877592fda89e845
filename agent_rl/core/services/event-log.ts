/** A log of what happened in a run. A listener also receives earlier entries. */
export class EventLog<Event> {
  readonly #all: Event[] = [];
  #notify: (event: Event) => void = () => undefined;

  add(event: Event): void {
    this.#all.push(event);
    this.#notify(event);
  }

  /** One listener at a time. */
  listen(listener: (event: Event) => void): void {
    this.#notify = listener;
    this.#all.forEach(listener);
  }

  get all(): readonly Event[] {
    return this.#all;
  }
}
