import type { FileHandle } from 'node:fs/promises';

import { RandomAccessReader } from 'yauzl';

/**
 * Reads an open zip for yauzl, whose own reader throws out of a callback, where nobody catches it, when a damaged file
 * points beyond what a number can say.
 */
export class ZipReader extends RandomAccessReader {
  constructor(
    private readonly handle: FileHandle,
    private readonly size: number,
  ) {
    super();
  }

  override read(...given: Parameters<RandomAccessReader['read']>): void {
    const [buffer, offset, length, position, callback] = given;
    const done: (error: Error | null, bytesRead?: number) => void = callback;
    if (position + length > this.size) {
      done(new Error(`it points to byte ${position + length} of ${this.size}`));
      return;
    }
    this.handle.read(buffer, offset, length, position).then(
      ({ bytesRead }) => done(null, bytesRead),
      (error: Error) => done(error),
    );
  }

  /** The file stays open: it belongs to who opened it. */
  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}
