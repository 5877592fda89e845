import { box } from '../protocol.ts';
import type { ChannelEnd } from './channel-end.ts';

/** As the native sandbox keeps: a program that writes more by itself is ended. */
const mostBytes = 8 * 2 ** 20;

/** What the calls of a program return, taken as each returns, so that what comes after its time can be left out. */
export class CallResults {
  readonly #kept: Uint8Array[] = [];
  #bytes = 0;
  #closed = false;

  /** To be made before the program starts. */
  constructor(private readonly end: ChannelEnd) {
    end.open();
    end.listen(() => this.#take());
  }

  get flooded(): boolean {
    return this.#bytes > mostBytes;
  }

  /** The program's time is over: nothing that comes from now on is kept. */
  close(): void {
    this.#take();
    this.#closed = true;
  }

  /** JSON text of a list of the results, or what the program made of it. To be called once it has ended. */
  finish(): string {
    this.#take();
    this.end.release();
    // What comes after the last line break was cut off.
    const lines = Buffer.concat(this.#kept).toString('utf8').split('\n').slice(0, -1);
    return `[${lines.join()}]`;
  }

  #take(): void {
    while (!this.flooded) {
      const bytes = this.end.take(box.verdicts);
      if (bytes === undefined) return;
      if (this.#closed) continue;
      this.#kept.push(bytes);
      this.#bytes += bytes.length;
    }
  }
}
