import { existsSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { JsonlWriter } from '../../telemetry/index.ts';

/**
 * A JSONL file that appears whole under its name or not at all, and never in place of another.
 *
 * What the user asked for is written as it is: it is data to be read back, and hiding in it what looks like a secret
 * would change it.
 */
export class FreshLines {
  readonly #writer: JsonlWriter;
  readonly #partial: string;
  #open = true;

  /** @throws AgentRlError `OUTPUT_UNWRITABLE` when there is something of this name, or it cannot be written. */
  constructor(readonly file: string) {
    refuseExisting(file);
    this.#partial = `${resolve(file)}.${process.pid}.partial`;
    this.#writer = this.#guarded(() => {
      rmSync(this.#partial, { force: true });
      return new JsonlWriter(this.#partial, { redact: (text) => text });
    });
  }

  write(line: object): void {
    this.#guarded(() => this.#writer.write(line));
  }

  /** Gives the file its name. */
  commit(): void {
    this.#guarded(() => {
      this.#writer.flush();
      this.#close();
      refuseExisting(this.file);
      renameSync(this.#partial, this.file);
    });
  }

  /** Leaves nothing behind, unless it was committed. */
  discard(): void {
    this.#close();
    rmSync(this.#partial, { force: true });
  }

  #close(): void {
    if (this.#open) this.#writer.close();
    this.#open = false;
  }

  #guarded<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (cause) {
      if (AgentRlError.is(cause) && cause.cause === undefined) throw cause;
      const why = messageOf(AgentRlError.is(cause) ? cause.cause : cause);
      throw new AgentRlError(
        'OUTPUT_UNWRITABLE',
        `Cannot write ${this.file}: ${why}. Check space and permissions, or give another --output.`,
        { cause },
      );
    }
  }
}

/** @throws AgentRlError `OUTPUT_UNWRITABLE` when there is something of this name. */
export function refuseExisting(file: string, flag = '--output'): void {
  if (!existsSync(file)) return;
  throw new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `${file} exists, and nothing is written over. Give another ${flag}, or move it away.`,
  );
}

/**
 * Runs what writes a new file: it appears when that ends well.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`, and what the action throws; there is no file then.
 */
export async function writingFresh<Result>(
  file: string,
  action: (lines: FreshLines) => Promise<Result>,
): Promise<Result> {
  const lines = new FreshLines(file);
  try {
    const result = await action(lines);
    lines.commit();
    return result;
  } finally {
    lines.discard();
  }
}
