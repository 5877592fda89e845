import type { TrackedMetrics } from '../core/run-event.ts';

/**
 * The last step at which each metric was recorded. An evaluation's numbers come again with their iteration, and what a
 * resume does again comes a second time: neither is recorded twice.
 */
export class RecordedSteps {
  readonly #stepOf = new Map<string, number>();

  /** Those that were not recorded at this step or a later one. */
  fresh(step: number, metrics: TrackedMetrics): [name: string, value: number][] {
    return Object.entries(metrics).filter(([name]) => (this.#stepOf.get(name) ?? -1) < step);
  }

  /** They are recorded at this step. */
  add(step: number, names: Iterable<string>): void {
    for (const name of names) this.#stepOf.set(name, step);
  }
}
