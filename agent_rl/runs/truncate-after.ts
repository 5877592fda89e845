import { createReadStream, existsSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';

import { AgentRlError, messageOf } from '../core/errors.ts';
import { isRecord } from '../core/is-record.ts';
import { visibleControls } from '../telemetry/index.ts';
import { writing } from '../telemetry/atomic-write.ts';
import type { RunFolder } from './run-folder.ts';

const lineFeed = 10;

/**
 * Cuts what a run recorded after an iteration off its records, so that a run resumed from there records each
 * iteration once; all of it before the first, -1. A last line that was cut short goes too.
 *
 * @returns what was repaired, a sentence each.
 * @throws AgentRlError `CHECKPOINT_INVALID` for a line that cannot be read, `OUTPUT_UNWRITABLE`
 */
export async function truncateAfter(folder: RunFolder, iteration: number): Promise<string[]> {
  const episodes = ['train.jsonl', 'learned.jsonl', 'eval.jsonl'].map((name) =>
    join(folder.trajectories, name),
  );
  const notes: string[] = [];
  for (const file of [folder.metrics, ...episodes].filter((path) => existsSync(path))) {
    const { bytes, torn } = await bytesUpTo(file, iteration);
    if (torn) notes.push(`${file}: removed the incomplete last line.`);
    writing(file, () => truncateSync(file, bytes));
  }
  return notes;
}

/** Length of the whole lines up to an iteration, and whether a torn one ends them. Lines are in the order of iterations. */
async function bytesUpTo(file: string, iteration: number) {
  let bytes = 0;
  let number = 0;
  for await (const line of lines(file)) {
    number += 1;
    if (line.at(-1) !== lineFeed) return { bytes, torn: true };
    const record = recordOf(line, { file, number });
    // The evaluation after training follows the last checkpoint, and so is made again.
    if (record.iteration > iteration || record.when === 'after') break;
    bytes += line.length;
  }
  return { bytes, torn: false };
}

interface Place {
  file: string;
  /** Of the line, from 1. */
  number: number;
}

/** What may be deleted, and what is lost with it: lines of two files belong together, one by one. */
function withoutCopy(name: string): string {
  if (name === 'metrics.jsonl') return 'delete the line; the metrics of one iteration are lost.';
  if (name === 'eval.jsonl')
    return 'delete the line; one evaluation episode is lost, and counts from this file are one lower.';
  const other = name === 'train.jsonl' ? 'learned.jsonl' : 'train.jsonl';
  return `delete the line together with the line of the same episode in ${other} (same iteration, taskId, sample, agent): the two files must match.`;
}

/** @throws AgentRlError `CHECKPOINT_INVALID` */
function recordOf(line: Buffer, { file, number }: Place): { iteration: number; when?: unknown } {
  const text = line.toString();
  try {
    const record: unknown = JSON.parse(text);
    if (isRecord(record) && typeof record['iteration'] === 'number')
      return { ...record, iteration: record['iteration'] };
    throw new Error('it has no iteration');
  } catch (cause) {
    const shown = visibleControls(text.trimEnd().slice(0, 60));
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `${file}:${number} is not a record of the run (${messageOf(cause)}): ${shown}. Restore the line from a backup and resume again. Without a backup: ${withoutCopy(basename(file))} Training does not need this line.`,
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
