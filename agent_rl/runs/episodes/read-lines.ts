import { existsSync } from 'node:fs';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { fileLines } from '../../core/wire/file-lines.ts';

/** Places of unreadable lines that are kept. */
export const mostUnreadable = 20;

/** Lines that cannot be used, each with its place; only the first are kept. */
export class Unreadable {
  readonly first: string[] = [];
  count = 0;

  add(text: string): void {
    this.count += 1;
    if (this.first.length < mostUnreadable) this.first.push(text);
  }
}

/**
 * Reads a file of a run line by line, a record each; one that does not exist has none.
 *
 * @param parse throws for an invalid record
 * @param unreadable takes lines that cannot be read, which are then left out; without it such a line is an error
 * @yields a record and its place, `FILE:LINE`
 * @throws AgentRlError `DATASET_INVALID` for a line that cannot be read, with its place. A last line that is cut short is left
 * out: the run is still writing it, or was killed.
 */
export async function* readLines<Parsed>(
  file: string,
  parse: (line: string) => Parsed,
  unreadable?: Unreadable,
): AsyncGenerator<{ record: Parsed; place: string }> {
  if (!existsSync(file)) return;
  let number = 0;
  let unread: { cause: unknown } | undefined;
  for await (const { bytes } of fileLines(file)) {
    if (unread !== undefined) {
      if (unreadable === undefined) throw lineProblem(`${file}:${number}`, unread.cause);
      unreadable.add(`${file}:${number}: ${messageOf(unread.cause)}`);
      unread = undefined;
    }
    number += 1;
    let record: Parsed;
    try {
      record = parse(bytes.toString());
    } catch (cause) {
      unread = { cause };
      continue;
    }
    yield { record, place: `${file}:${number}` };
  }
}

const lineProblem = (place: string, cause: unknown): AgentRlError =>
  new AgentRlError(
    'DATASET_INVALID',
    `${place} cannot be read: ${messageOf(cause)}. Restore the line instead of deleting it, because the lines after it must keep their numbers.`,
    { cause },
  );
