import { statSync } from 'node:fs';

import { Unreadable } from '../episodes/read-lines.ts';
import { columnsOf, type IterationMetrics, readMetrics } from '../query/metrics.ts';
import type { RunFolder } from '../run-folder.ts';
import type { MetricColumns } from './api.ts';

/** The metrics of a run, read again when they grow. */
export class MetricHistory {
  /** Size and time of the file as it was read. */
  #written = '';
  #lines: IterationMetrics[] = [];
  #reading: Promise<void> | undefined;
  unreadable = new Unreadable();

  constructor(private readonly folder: Pick<RunFolder, 'metrics'>) {}

  /** Reads what is new; one call at a time does the work for all. */
  update(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The metrics of iterations above a number. */
  async after(iteration: number): Promise<MetricColumns> {
    await this.update();
    return columnsOf(this.#lines.filter((line) => line.iteration > iteration));
  }

  async #read(): Promise<void> {
    const found = statSync(this.folder.metrics, { throwIfNoEntry: false });
    const written = `${found?.size} ${found?.mtimeMs}`;
    if (written === this.#written) return;
    const unreadable = new Unreadable();
    this.#lines = await readMetrics(this.folder, unreadable);
    this.unreadable = unreadable;
    this.#written = written;
  }
}
