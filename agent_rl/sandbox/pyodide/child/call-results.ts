import { box } from '../protocol.ts';
import type { ChannelEnd } from './channel-end.ts';

/** As the native sandbox keeps: a program that writes more by itself is ended. */
const mostBytes = 8 * 2 ** 20;

/** What the calls of a program return, taken as each returns, so that what comes after its time is left out. */
export class CallResults {
  readonly #kept: Uint8Array[] = [];
  #bytes = 0;
  /** How many pieces were taken before the program's time was over. */
  #inTime = 0;

  /** To be made before the program starts. */
  constructor(
    private readonly end: ChannelEnd,
    private readonly isLate: () => boolean,
  ) {
    end.open();
    end.listen(() => this.#take());
  }

  get flooded(): boolean {
    return this.#bytes > mostBytes;
  }

  /**
   * JSON text of a list of the results, or what the program made of it. To be called once it has ended.
   *
   * @param endedInTime all of them came in time, whenever they were taken
   */
  finish(endedInTime: boolean): string {
    this.#take();
    this.end.release();
    const kept = endedInTime ? this.#kept : this.#kept.slice(0, this.#inTime);
    // What comes after the last line break was cut off.
    const lines = Buffer.concat(kept).toString('utf8').split('\n').slice(0, -1);
    return `[${lines.join()}]`;
  }

  #take(): void {
    while (!this.flooded) {
      const bytes = this.end.take(box.verdicts);
      if (bytes === undefined) return;
      this.#kept.push(bytes);
      this.#bytes += bytes.length;
      if (!this.isLate()) this.#inTime = this.#kept.length;
    }
  }
}
