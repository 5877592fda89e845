import { nodeCodeOf } from '../core/errors.ts';
import type { Io } from './io.ts';

/** The error codes of writing to a pipe whose reader has closed it; on Windows, the second. */
const readerGone = new Set(['EPIPE', 'EOF']);

/**
 * A stream whose reader may leave, as `head` does: what is written from then on is dropped. Any other failure, such as a
 * full disk, is thrown where nothing catches it.
 *
 * @param onGone called once
 */
export function lastingStream(stream: NodeJS.WriteStream, onGone: () => void): Io['stdout'] {
  let isGone = false;
  stream.on('error', (error) => {
    if (!readerGone.has(nodeCodeOf(error))) throw error;
    if (!isGone) onGone();
    isGone = true;
  });
  return {
    write: (text) => isGone || stream.write(text),
    isTTY: stream.isTTY,
    // A terminal may be resized.
    get columns() {
      return stream.columns;
    },
  };
}
