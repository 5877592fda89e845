import { existsSync } from 'node:fs';

import { isRecord } from '../../core/is-record.ts';
import { metricDefinition } from '../../telemetry/index.ts';
import { Unreadable } from '../episodes/unreadable.ts';
import type { RunFolder } from '../run-folder.ts';
import type { Measured, MetricColumns } from './api.ts';
import { changeOf, nothingRead, readOn } from './index/indexed-file.ts';

type Line = Readonly<Record<string, unknown>> & { iteration: number };

/** The metrics of a run, read on as they grow. */
export class MetricHistory {
  #mark = nothingRead;
  #lines: Line[] = [];
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

  /** Those of iterations above a number. */
  async after(iteration: number): Promise<MetricColumns> {
    await this.update();
    const lines = this.#lines.filter((line) => line.iteration > iteration);
    const names = [...new Set(lines.flatMap((line) => Object.keys(line)))].filter(
      (name) => name !== 'iteration',
    );
    const definitions = names.map((name) => [name, metricDefinition(name)] as const);
    return {
      iterations: lines.map((line) => line.iteration),
      columns: Object.fromEntries(
        names.map((name) => [name, lines.map((line) => measured(line[name]))]),
      ),
      units: Object.fromEntries(definitions.map(([name, one]) => [name, one?.unit ?? ''])),
      meanings: Object.fromEntries(
        definitions.map(([name, one]) => [name, one?.description ?? '']),
      ),
    };
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
    const use = ({ bytes }: { bytes: Buffer }): void => {
      const line: unknown = JSON.parse(bytes.toString());
      if (!isRecord(line) || typeof line['iteration'] !== 'number')
        throw new Error('it is no line of metrics');
      this.#lines.push(line as Line);
    };
    this.#mark = await readOn(file, this.#mark, { use, unreadable: this.unreadable });
  }
}

function measured(value: unknown): Measured {
  if (typeof value === 'number') return value;
  return value === 'NaN' || value === 'Infinity' || value === '-Infinity' ? value : null;
}
