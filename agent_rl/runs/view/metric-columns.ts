import { existsSync } from 'node:fs';

import { Unreadable } from '../episodes/read-lines.ts';
import { columnsOf, type IterationMetrics, iterationOf } from '../query/metrics.ts';
import type { RunFolder } from '../run-folder.ts';
import type { MetricColumns } from './api.ts';
import { changeOf, nothingRead, readOn } from './index/indexed-file.ts';

/** The metrics of a run, read on as they grow. */
export class MetricHistory {
  #mark = nothingRead;
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
    const { metrics: file } = this.folder;
    const change = await changeOf(file, this.#mark);
    if (change === 'rewritten') {
      this.#mark = nothingRead;
      this.#lines = [];
      this.unreadable = new Unreadable();
    }
    if (change === 'none' || !existsSync(file)) return;
    const use = ({ bytes }: { bytes: Buffer }): void =>
      void this.#lines.push(iterationOf(bytes.toString()));
    this.#mark = await readOn(file, this.#mark, { use, unreadable: this.unreadable });
  }
}
