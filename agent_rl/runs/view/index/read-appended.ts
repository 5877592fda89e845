import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';

const chunkBytes = 4 * 2 ** 20;
/** Beyond it a line is no episode of ours; nothing that long is held in memory. */
const longestLineBytes = 256 * 2 ** 20;
const lineFeed = 10;
/** After so long other requests get their turn. */
const turnMs = 15;

/**
 * Reads the whole lines of a file from an offset on. A last line without its line feed is being written, and is left for the
 * next time.
 *
 * @param until where the file ends for this reading, however much it grows
 * @param use is given each line; its bytes are `undefined` where the line is too long
 * @returns where the next reading begins
 */
export async function readAppended(
  file: string,
  { from, until }: { from: number; until: number },
  use: (line: { offset: number; bytes: Buffer | undefined }) => void,
): Promise<number> {
  const handle = await open(file, 'r');
  try {
    let begun: Buffer[] = [];
    let begunBytes = 0;
    let start = from;
    let turn = performance.now();
    for (let at = from; ;) {
      const wanted = Math.max(0, Math.min(chunkBytes, until - at));
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(chunkBytes), 0, wanted, at);
      if (bytesRead === 0) return start;
      at += bytesRead;
      let rest = buffer.subarray(0, bytesRead);
      for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed)) {
        const length = begunBytes + end;
        const whole = length <= longestLineBytes;
        const bytes = whole ? Buffer.concat([...begun, rest.subarray(0, end)]) : undefined;
        use({ offset: start, bytes });
        start += length + 1;
        [begun, begunBytes] = [[], 0];
        rest = rest.subarray(end + 1);
        if (performance.now() - turn > turnMs) {
          await setImmediate();
          turn = performance.now();
        }
      }
      begunBytes += rest.length;
      if (begunBytes <= longestLineBytes) begun.push(rest);
      else begun = [];
    }
  } finally {
    await handle.close();
  }
}

/** Bytes of a file at a place. @throws Error when the file is shorter */
export async function readAt(file: string, offset: number, length: number): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
    if (bytesRead < length)
      throw new Error(`${file} is too short: expected ${length} bytes at offset ${offset}`);
    return buffer;
  } finally {
    await handle.close();
  }
}
