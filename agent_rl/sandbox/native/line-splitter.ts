/** Calls `onLine` for each line of a stream of bytes in UTF-8, without its end. */
export class LineSplitter {
  #pieces: Buffer[] = [];

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.#pieces.push(chunk.subarray(start, end));
      const line = Buffer.concat(this.#pieces).toString('utf8');
      this.#pieces = [];
      start = end + 1;
      this.onLine(line);
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }
}
