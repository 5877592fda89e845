import type { FileHandle } from 'node:fs/promises';
import { callbackify } from 'node:util';

import { RandomAccessReader } from 'yauzl';

/**
 * Reads an open zip for yauzl, whose own reader throws out of a callback, where nothing catches it, when a damaged file
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
    const bytesRead = async (): Promise<number> => {
      if (position + length > this.size)
        throw new Error(`it points to byte ${position + length} of ${this.size}`);
      return (await this.handle.read(buffer, { offset, length, position })).bytesRead;
    };
    callbackify(bytesRead)(callback);
  }

  /** The file stays open: it belongs to who opened it. */
  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}
