import type { Rollout } from '../../core/rollout.ts';
import type { Metrics } from '../../telemetry/metric-names.ts';
import type { Evaluation } from '../../trainer/evaluate.ts';
import type { CheckpointReason, EvaluationTime } from '../../trainer/trainer-contracts.ts';

/** What happens in a run, as it happens. */
export type TrainingEvent =
  /** A training episode has ended. */
  | { type: 'episode'; rollout: Rollout }
  /** An iteration is whole; counted from 1. */
  | { type: 'iteration'; iteration: number; metrics: Metrics }
  | { type: 'evaluation'; when: EvaluationTime; iteration: number; evaluation: Evaluation }
  | { type: 'checkpoint'; reason: CheckpointReason; iteration: number; path: string };

/** Events of a run, kept until they are read; before anyone reads, none is kept. */
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
      // Nobody reads any more.
      this.#read = false;
      this.#waiting = [];
    }
  }
}
