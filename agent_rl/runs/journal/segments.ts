import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

import { asyncBufferFromFile } from 'hyparquet';

import { messageOf } from '../../core/errors.ts';
import { cutShort, framesIn, type NumberedEvent } from './event-frame.ts';
import { eventsIn, type Extent } from './sealed-segment.ts';

/**
 * A file of a journal. One that is open grows and has a line for each event; a sealed one is a Parquet file whose name has its
 * CRC-32. Both are named after the number of their first event.
 */
export interface Segment {
  readonly first: number;
  readonly file: string;
  /** Of a sealed one. */
  readonly checksum: string | undefined;
}

const name = (first: number): string => String(first).padStart(10, '0');

export const openSegment = (folder: string, first: number): Segment => ({
  first,
  file: join(folder, `${name(first)}.open`),
  checksum: undefined,
});

export function sealedSegment(folder: string, first: number, bytes: Buffer): Segment {
  const checksum = hex(bytes);
  return { first, file: join(folder, `${name(first)}.${checksum}.parquet`), checksum };
}

const hex = (bytes: Buffer): string => crc32(bytes).toString(16).padStart(8, '0');

/** In the order of the journal. Where a process ended between sealing one and deleting the open one, the sealed one is given. */
export function segmentsOf(folder: string): Segment[] {
  const found = new Map<number, Segment>();
  for (const file of existsSync(folder) ? readdirSync(folder) : []) {
    const [, digits, checksum] = /^(\d{10})\.(?:open|([\da-f]{8})\.parquet)$/.exec(file) ?? [];
    if (digits === undefined) continue;
    const first = Number(digits);
    if (checksum !== undefined || !found.has(first))
      found.set(first, { first, file: join(folder, file), checksum });
  }
  return [...found.values()].toSorted((a, b) => a.first - b.first);
}

/** An open segment may have been sealed since it was listed. */
export const asItIsNow = (segment: Segment): Segment =>
  existsSync(segment.file)
    ? segment
    : (segmentsOf(dirname(segment.file)).find(({ first }) => first === segment.first) ?? segment);

/** What cannot be read of a segment, each with its place. */
export type Damaged = (problem: string) => void;

/**
 * Reads a segment. What is damaged is left out; a last frame that is cut short is being written, or was when its
 * process ended, and is not damage.
 *
 * @param what of a sealed one: `outline` leaves out what was drawn, `session` reads the session that it begins with, if any
 */
export async function readSegment(
  segment: Segment,
  damaged: Damaged,
  what: Extent = 'whole',
): Promise<NumberedEvent[]> {
  const { file, checksum } = asItIsNow(segment);
  if (checksum === undefined) return openEvents(file, readFileSync(file), damaged).events;
  try {
    // The rest of the file is not read then, and so not checked.
    if (what === 'session') return await eventsIn(await asyncBufferFromFile(file), what);
    const bytes = readFileSync(file);
    if (hex(bytes) === checksum) return await eventsIn(toArrayBuffer(bytes), what);
    damaged(`${file}: its checksum does not match its name`);
  } catch (thrown) {
    damaged(`${file}: ${messageOf(thrown)}`);
  }
  return [];
}

/** The events of frames, and the bytes without a last frame that is cut short. */
export function openEvents(
  file: string,
  frames: Buffer,
  damaged: Damaged,
): { events: NumberedEvent[]; bytes: number } {
  const events: NumberedEvent[] = [];
  let bytes = 0;
  for (const { event, problem, offset, end } of framesIn(frames)) {
    if (problem === cutShort) break;
    bytes = end;
    if (event !== undefined) events.push(event);
    else damaged(`${file}: the event at byte ${offset}: ${problem}`);
  }
  return { events, bytes };
}

const toArrayBuffer = ({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
