import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { AgentRlError } from '../errors.ts';

/** A line of a file, counted from 1, without its end. */
export interface FileLine {
  line: number;
  bytes: Buffer;
}

const longestLine = 256 * 2 ** 20;
const [lineFeed, carriageReturn] = [10, 13];

/**
 * The lines of a file of any size, which end in LF, CR LF or CR. One that ends in `.gz` is unpacked.
 *
 * @yields Each line, blank ones too.
 * @throws AgentRlError `DATASET_INVALID` for a line that is too long, before it is held; what reading the file throws
 */
export async function* fileLines(file: string, most = longestLine): AsyncGenerator<FileLine> {
  let line = 0;
  let held: Buffer[] = [];
  let length = 0;
  const whole = function* (): Generator<FileLine> {
    const bytes = Buffer.concat(held);
    [held, length] = [[], 0];
    for (const part of withoutReturns(bytes)) yield { line: ++line, bytes: part };
  };
  for await (const chunk of bytesOf(file)) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      held.push(chunk.subarray(from, end));
      from = end + 1;
      yield* whole();
    }
    held.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > most)
      throw new AgentRlError(
        'DATASET_INVALID',
        `${file}:${line + 1} is longer than ${most} bytes. Use a file with one record per line.`,
      );
  }
  if (length > 0) yield* whole();
}

function bytesOf(file: string): AsyncIterable<Buffer> {
  const bytes = createReadStream(file);
  // What goes wrong is thrown where the stream is read.
  return /\.gz$/i.test(file) ? pipeline(bytes, createGunzip(), () => undefined) : bytes;
}

function* withoutReturns(bytes: Buffer): Generator<Buffer> {
  const last = bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length;
  let from = 0;
  for (let end = bytes.indexOf(carriageReturn); end >= 0 && end < last;) {
    yield bytes.subarray(from, end);
    from = end + 1;
    end = bytes.indexOf(carriageReturn, from);
  }
  yield bytes.subarray(from, last);
}
