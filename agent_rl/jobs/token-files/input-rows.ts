import { statSync } from 'node:fs';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { datasetError, type DatasetProblem } from '../../../dataset/tasks/dataset-problem.ts';
import {
  type JsonLine,
  type ParseJson,
  readJsonLines,
} from '../../../dataset/tables/json-lines.ts';
import { append } from '../../core/long-lists.ts';

/** Says that something is wrong with a row: where in it, and what. */
export type Report = (path: string, text: string) => void;

/** Reads the value of a line as a row, reporting all that is wrong with it; what it returns then does not matter. */
export type ReadRow<Row> = (value: unknown, report: Report) => Row | undefined;

/** A row and the line of the file it stands on, counted from 1 with the blank ones. */
export interface InputRow<Row> {
  line: number;
  row: Row;
}

/** The rows of a JSONL file of any size: it is read as a stream, once to check it and once to work on it. */
export class InputRows<Row> {
  /** @param value stands for the only line, where there is no file; problems then carry the name. */
  constructor(
    readonly file: string,
    private readonly readRow: ReadRow<Row>,
    private readonly value?: unknown,
    private readonly parse?: ParseJson,
  ) {}

  /**
   * Reads the whole file, so that a mistake in its last line shows before hours of work.
   *
   * @throws AgentRlError `DATASET_INVALID`, every problem of every line at once, or when the file holds no row.
   */
  async check(see: (row: Row) => void): Promise<void> {
    if (this.value === undefined) this.#requireFile();
    const problems: DatasetProblem[] = [];
    let rows = 0;
    for await (const read of this.#lines()) {
      if ('problems' in read) append(problems, read.problems);
      else see(read.row);
      rows += 1;
    }
    if (rows === 0) problems.push({ line: 1, path: '', text: 'the file is empty.' });
    if (problems.length > 0) throw datasetError(this.file, problems);
  }

  /**
   * @yields Each row, in order.
   * @throws AgentRlError `DATASET_INVALID` for the first line that is not a row: the file changed since it was checked.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<InputRow<Row>> {
    for await (const read of this.#lines()) {
      if ('problems' in read) throw datasetError(this.file, read.problems);
      yield read;
    }
  }

  async *#lines(): AsyncGenerator<InputRow<Row> | { problems: readonly DatasetProblem[] }> {
    for await (const json of this.#jsonLines()) {
      if ('problem' in json) {
        yield { problems: [json.problem] };
        continue;
      }
      const { line, value } = json;
      const problems: DatasetProblem[] = [];
      const row = this.readRow(value, (path, text) => problems.push({ line, path, text }));
      if (problems.length > 0 || row === undefined) yield { problems };
      else yield { line, row };
    }
  }

  #jsonLines(): AsyncIterable<JsonLine> | Iterable<JsonLine> {
    return this.value === undefined
      ? readJsonLines(this.file, this.parse)
      : [{ line: 1, value: this.value }];
  }

  #requireFile(): void {
    let problem = 'it is not a regular file, and the command reads it twice';
    try {
      if (statSync(this.file).isFile()) return;
    } catch (cause) {
      problem = messageOf(cause);
    }
    throw new AgentRlError(
      'DATASET_INVALID',
      `Cannot read ${this.file}: ${problem}. Give the path of a JSONL file.`,
    );
  }
}
