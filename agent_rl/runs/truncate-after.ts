import { createReadStream, existsSync, truncateSync } from 'node:fs';

import { AgentRlError, messageOf } from '../core/errors.ts';
import { isRecord } from '../core/is-record.ts';
import { visibleControls } from '../telemetry/index.ts';
import { writing } from '../telemetry/atomic-write.ts';
import type { RunFolder } from './run-folder.ts';

const lineFeed = 10;

/**
 * Cuts the metrics that a run recorded after an iteration, so that a run resumed from there records each iteration once; all
 * of them before the first, -1. A last line that was cut short goes too.
 *
 * @returns what was repaired, a sentence each.
 * @throws AgentRlError `CHECKPOINT_INVALID` for a line that cannot be read, `OUTPUT_UNWRITABLE`
 */
export async function truncateAfter(
  { metrics: file }: Pick<RunFolder, 'metrics'>,
  iteration: number,
): Promise<string[]> {
  if (!existsSync(file)) return [];
  const { bytes, torn } = await bytesUpTo(file, iteration);
  writing(file, () => truncateSync(file, bytes));
  return torn ? [`${file}: removed the incomplete last line.`] : [];
}

/** Length of the whole lines up to an iteration, and whether a torn one ends them. Lines are in the order of iterations. */
async function bytesUpTo(file: string, iteration: number) {
  let bytes = 0;
  let number = 0;
  for await (const line of lines(file)) {
    number += 1;
    if (line.at(-1) !== lineFeed) return { bytes, torn: true };
    const record = recordOf(line, { file, number });
    if (record.iteration > iteration) break;
    bytes += line.length;
  }
  return { bytes, torn: false };
}

interface Place {
  file: string;
  /** Of the line, from 1. */
  number: number;
}

/** @throws AgentRlError `CHECKPOINT_INVALID` */
function recordOf(line: Buffer, { file, number }: Place): { iteration: number } {
  const text = line.toString();
  try {
    const record: unknown = JSON.parse(text);
    if (isRecord(record) && typeof record['iteration'] === 'number')
      return { iteration: record['iteration'] };
    throw new Error('it has no iteration');
  } catch (cause) {
    const shown = visibleControls(text.trimEnd().slice(0, 60));
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${file}:${number} is not a record of the run (${messageOf(cause)}): ${shown}. Restore the line from a backup and resume again. Without a backup, delete the line: the metrics of one iteration are lost, and training does not need them.`,
      { cause },
    );
  }
}

/**
 * Lines with their line feed, cut at no other character: JSON may hold any. The last may lack it.
 *
 * @yields one line
 */
async function* lines(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed)) {
      yield rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest;
}
