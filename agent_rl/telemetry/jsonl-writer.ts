import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

import { isRecord } from '../core/is-record.ts';
import { writing } from './output-unwritable.ts';
import { type Redact, redactor } from './redact.ts';

/** Where lines of bytes go; a file, or a stand-in that fails on purpose in tests. */
export interface ByteSink {
  write(bytes: Uint8Array): number;
  sync(): void;
  close(): void;
}

/** Opens a file for appending, making its folder if need be. */
function appendingFile(file: string): ByteSink {
  mkdirSync(dirname(file), { recursive: true });
  const descriptor = openSync(file, 'a');
  return {
    write: (bytes) => writeSync(descriptor, bytes),
    sync: () => fsyncSync(descriptor),
    close: () => closeSync(descriptor),
  };
}

export interface JsonlWriterOptions {
  redact?: Redact;
  open?: (file: string) => ByteSink;
}

/**
 * Appends records to a file, one line of JSON each, whole lines only, in the order written.
 * NaN and infinities become the strings `"NaN"`, `"Infinity"`, `"-Infinity"`.
 */
export class JsonlWriter {
  readonly #sink: ByteSink;
  readonly #redact: Redact;

  /** @throws AgentRlError `OUTPUT_UNWRITABLE` */
  constructor(
    readonly file: string,
    { redact = redactor(), open = appendingFile }: JsonlWriterOptions = {},
  ) {
    this.#redact = redact;
    this.#sink = writing(file, () => open(file));
  }

  /** @throws AgentRlError `OUTPUT_UNWRITABLE`, on a full disk among others. */
  write(record: object): void {
    // Texts are redacted and not the line: a secret that looks like a number must not eat into numbers.
    const redacted = (_key: string, value: unknown): unknown => {
      if (typeof value === 'string') return this.#redact(value);
      // JSON has no such numbers; turning them into null would hide a diverged run.
      if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
      if (!isRecord(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, of]) => [this.#redact(name), of]),
      );
    };
    const line = `${JSON.stringify(record, redacted)}\n`;
    const bytes = new TextEncoder().encode(line);
    writing(this.file, () => {
      for (let done = 0; done < bytes.length;) done += this.#sink.write(bytes.subarray(done));
    });
  }

  /** Makes what was written survive a power cut. */
  flush(): void {
    writing(this.file, () => this.#sink.sync());
  }

  close(): void {
    writing(this.file, () => this.#sink.close());
  }
}
