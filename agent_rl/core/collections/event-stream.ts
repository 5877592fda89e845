/** Events of a run, kept until they are read; events before the first reader are dropped. */
export class EventStream<Event> {
  #waiting: Event[] = [];
  #read = false;
  #ended = false;
  #wake: (() => void) | undefined;

  push(event: Event): void {
    if (!this.#read || this.#ended) return;
    this.#waiting.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Gives each event once; one reader at a time. */
  read(): AsyncIterableIterator<Event> {
    this.#read = true;
    return this.#events();
  }

  async *#events(): AsyncGenerator<Event, undefined> {
    try {
      for (;;) {
        const events = this.#waiting;
        this.#waiting = [];
        yield* events;
        if (this.#waiting.length > 0) continue;
        if (this.#ended) return undefined;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.#read = false;
      this.#waiting = [];
    }
  }
}
