import { createReadStream, existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import type { RunFolder } from './run-folder.ts';
import { outputUnwritable } from '../telemetry/atomic-write.ts';

/**
 * Cuts what a run recorded after an iteration off its records, so that a run resumed from there records each
 * iteration once. A last line that was cut short goes too.
 *
 * @throws AgentRlError `OUTPUT_UNWRITABLE`
 */
export async function truncateAfter(folder: RunFolder, iteration: number): Promise<void> {
  const episodes = ['train.jsonl', 'eval.jsonl'].map((name) => join(folder.trajectories, name));
  for (const file of [folder.metrics, ...episodes].filter((path) => existsSync(path))) {
    try {
      truncateSync(file, await bytesUpTo(file, iteration));
    } catch (cause) {
      throw outputUnwritable(file, cause);
    }
  }
}

/** Length of the whole lines up to an iteration. Lines are in the order of iterations. */
async function bytesUpTo(file: string, iteration: number): Promise<number> {
  let bytes = 0;
  for await (const line of wholeLines(file)) {
    const record = JSON.parse(line.toString()) as { iteration: number; when?: string };
    // The evaluation after training follows the last checkpoint, and so is made again.
    if (record.iteration > iteration || record.when === 'after') break;
    bytes += line.length;
  }
  return bytes;
}

/**
 * Lines with their line feed, cut at no other character: JSON may hold any.
 *
 * @yields one line
 */
async function* wholeLines(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
    }
  }
}
