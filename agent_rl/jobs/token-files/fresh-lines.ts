import { existsSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { JsonlWriter } from '../../telemetry/index.ts';

/** @throws AgentRlError `OUTPUT_UNWRITABLE` when there is something of this name. */
export function refuseExisting(file: string, flag = '--output'): void {
  if (!existsSync(file)) return;
  throw new AgentRlError(
    'OUTPUT_UNWRITABLE',
    `${file} already exists and is not overwritten. Give another ${flag}, or move the file.`,
  );
}

/**
 * Runs what writes the lines of a JSONL file. The file appears whole under its name when that ends well or not at all,
 * and never replaces another. A text is a line of JSON as it is. It is data to be read back, so nothing in it is redacted.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`, and what the action throws; there is no file then.
 */
export async function writingFresh<Result>(
  file: string,
  action: (write: (line: object | string) => void) => Promise<Result>,
): Promise<Result> {
  refuseExisting(file);
  const partial = `${resolve(file)}.${process.pid}.partial`;
  const writer = guarded(file, () => {
    rmSync(partial, { force: true });
    return new JsonlWriter(partial, (text) => text);
  });
  let open = true;
  const close = (): void => {
    if (open) writer.close();
    open = false;
  };
  try {
    const write = (line: object | string): void =>
      typeof line === 'string' ? writer.writeLine(line) : writer.write(line);
    const result = await action((line) => guarded(file, () => write(line)));
    guarded(file, () => {
      writer.flush();
      close();
      refuseExisting(file);
      renameSync(partial, file);
    });
    return result;
  } finally {
    close();
    rmSync(partial, { force: true });
  }
}

function guarded<Result>(file: string, action: () => Result): Result {
  try {
    return action();
  } catch (cause) {
    if (AgentRlError.is(cause) && cause.cause === undefined) throw cause;
    const why = messageOf(AgentRlError.is(cause) ? cause.cause : cause);
    throw new AgentRlError(
      'OUTPUT_UNWRITABLE',
      `Cannot write ${file}: ${why}. Check space and permissions, or give another --output.`,
      { cause },
    );
  }
}
