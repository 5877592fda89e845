import { type FileHandle, open } from 'node:fs/promises';

import { versionEvent } from './events.ts';
import { record } from './records.ts';

/** An event file that is being written. */
export class EventFile {
  /** Bytes of whole records. */
  #length = 0;

  private constructor(private readonly handle: FileHandle) {}

  /** Makes the file. It must not exist. */
  static async create(path: string, place: { time: number; step: number }): Promise<EventFile> {
    const file = new EventFile(await open(path, 'wx'));
    await file.append(versionEvent(place));
    return file;
  }

  /** Adds an event. After a failure the next takes its place: readers stop at a record that is torn. */
  async append(event: Buffer): Promise<void> {
    const bytes = record(event);
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.handle.write(
        bytes,
        done,
        bytes.length - done,
        this.#length + done,
      );
      done += bytesWritten;
    }
    this.#length += bytes.length;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}
