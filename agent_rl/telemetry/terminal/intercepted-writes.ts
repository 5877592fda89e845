import { StringDecoder } from 'node:string_decoder';

import type { Terminal } from './display-mode.ts';

type Write = Terminal['write'];
type Written = (error?: Error | null) => void;

/** A stream all of whose writes pass through another hand, a whole number of lines at a time. */
export class InterceptedWrites {
  readonly #decoder = new StringDecoder('utf8');
  readonly #own: PropertyDescriptor | undefined;
  readonly #before: Write;
  /** The start of a line whose end is not written yet. */
  #begun = '';
  #isOver = false;

  /** @param onLines given what is to be written, which ends with a line feed */
  constructor(
    private readonly stream: Terminal,
    private readonly onLines: (text: string) => void,
  ) {
    this.#own = Object.getOwnPropertyDescriptor(stream, 'write');
    this.#before = stream.write;
    stream.write = this.#write;
  }

  /** Writes past the other hand. */
  raw(text: string): void {
    this.#before.call(this.stream, text);
  }

  /** Gives the stream back, with what was begun. */
  end(): void {
    this.#isOver = true;
    // What replaced ours meanwhile calls ours, which from now on only passes on.
    if (this.stream.write === this.#write) {
      if (this.#own === undefined) delete (this.stream as Partial<Terminal>).write;
      else Object.defineProperty(this.stream, 'write', this.#own);
    }
    const rest = this.#begun + this.#decoder.end();
    if (rest !== '') this.raw(rest);
  }

  readonly #write = (
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | Written,
    callback?: Written,
  ): boolean => {
    if (this.#isOver) return this.#before.call(this.stream, chunk, encoding as never, callback);
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8')
        : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#begun += this.#decoder.write(bytes);
    const end = this.#begun.lastIndexOf('\n') + 1;
    const lines = this.#begun.slice(0, end);
    this.#begun = this.#begun.slice(end);
    if (lines !== '') this.onLines(lines);
    const written = typeof encoding === 'function' ? encoding : callback;
    if (written !== undefined) process.nextTick(written);
    return true;
  };
}
