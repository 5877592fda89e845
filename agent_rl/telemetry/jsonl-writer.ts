import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { isRecord } from '../core/is-record.ts';
import { writing } from './atomic-write.ts';
import { type Redact, redactor } from './redact.ts';
import { metricDefinition, type Metrics } from './metric-names.ts';

/**
 * Appends records to a file, one line of JSON each, whole lines only, in the order written.
 * NaN and infinities become the strings `"NaN"`, `"Infinity"`, `"-Infinity"`.
 */
export class JsonlWriter {
  readonly #descriptor: number;

  /** Makes the file's folder if need be. @throws AgentRlError `OUTPUT_UNWRITABLE` */
  constructor(
    readonly file: string,
    private readonly redact: Redact = redactor(),
  ) {
    this.#descriptor = writing(file, () => {
      mkdirSync(dirname(file), { recursive: true });
      return openSync(file, 'a');
    });
  }

  /** @throws AgentRlError `OUTPUT_UNWRITABLE`, on a full disk among others. */
  write(record: object): void {
    // Not `writeSync`, which may write part of a line.
    this.writeLine(JSON.stringify(redacted(record, this.redact)));
  }

  /** A record that is JSON already, as it is. @throws AgentRlError `OUTPUT_UNWRITABLE` */
  writeLine(json: string): void {
    writing(this.file, () => writeFileSync(this.#descriptor, `${json}\n`));
  }

  /** Makes what was written survive a power cut. */
  flush(): void {
    writing(this.file, () => fsyncSync(this.#descriptor));
  }

  close(): void {
    writing(this.file, () => closeSync(this.#descriptor));
  }
}

/**
 * A value as JSON is to write it. Texts are redacted and not the line: a secret that looks like a number must not eat into
 * numbers. JSON lacks some numbers; null in their place would hide a diverged run.
 */
export function redacted(value: unknown, redact: Redact = redactor()): unknown {
  if (isRecord(value) && typeof value['toJSON'] === 'function')
    return plain(value['toJSON'](), redact);
  return plain(value, redact);
}

/** The same of what has no form of its own. */
function plain(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  const each = (part: unknown): unknown => redacted(part, redact);
  // Records consist mostly of lists of numbers, which need no copy.
  if (Array.isArray(value)) return value.every(Number.isFinite) ? value : value.map(each);
  if (!isRecord(value)) return value;
  const parts = Object.entries(value).filter(([, part]) => typeof part !== 'function');
  return Object.fromEntries(parts.map(([name, part]) => [redact(name), each(part)]));
}

/** Writes `metrics.jsonl`: one line per iteration, `{"iteration": 3, "rollout/rewardMean": 0.4, …}`. */
export class MetricsWriter {
  readonly #lines: JsonlWriter;

  /** @throws AgentRlError `OUTPUT_UNWRITABLE` */
  constructor(file: string) {
    this.#lines = new JsonlWriter(file);
  }

  /**
   * @throws RangeError on a name that `metric-names.ts` does not define: a bug, found before it is written.
   * @throws AgentRlError `OUTPUT_UNWRITABLE`
   */
  write(iteration: number, metrics: Metrics): void {
    const unknown = Object.keys(metrics).filter((name) => metricDefinition(name) === undefined);
    if (unknown.length > 0) {
      throw new RangeError(
        `No metric is named ${unknown.map((name) => `"${name}"`).join(', ')}. Define it in metric-names.ts with a unit and a description.`,
      );
    }
    this.#lines.write({ iteration, ...metrics });
    this.#lines.flush();
  }

  close(): void {
    this.#lines.close();
  }
}
