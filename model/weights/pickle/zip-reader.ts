import type { FileHandle } from 'node:fs/promises';

import { RandomAccessReader } from 'yauzl';

type Done = (error: Error | null, bytesRead?: number) => void;

interface Part {
  offset: number;
  length: number;
  position: number;
}

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
    const done: Done = callback;
    if (position + length > this.size) {
      done(new Error(`it points to byte ${position + length} of ${this.size}`));
      return;
    }
    void this.#readInto(buffer, { offset, length, position }, done);
  }

  async #readInto(buffer: Buffer, part: Part, done: Done): Promise<void> {
    let read: number | Error;
    try {
      ({ bytesRead: read } = await this.handle.read(buffer, part));
    } catch (error) {
      read = error as Error;
    }
    if (typeof read === 'number') done(null, read);
    else done(read);
  }

  /** The file stays open: it belongs to who opened it. */
  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }
}
