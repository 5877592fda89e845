import { crc32 } from 'node:zlib';

import {
  type JournalColumn,
  journalColumns,
  type JournalEvent,
  journalTypes,
} from '../../core/services/journal.ts';

/** An event with its number in the journal, from 0. */
export interface NumberedEvent extends JournalEvent {
  readonly seq: number;
}

/*
 * A frame: bytes of its payload and their CRC-32, both unsigned 32-bit little-endian, then the payload: bytes of the JSON, the
 * JSON, and the numbers of the columns that the JSON counts, 4 bytes each. A process that is killed leaves at most one frame cut
 * short, the last.
 */
const headBytes = 8;

type Counts = Partial<Record<'tokens' | JournalColumn, number>>;
const numberColumns = ['tokens', ...journalColumns] as const;

export function frameOf(event: NumberedEvent): Buffer {
  const { tokens, columns } = event;
  const counts: Counts = {};
  const numbers: Buffer[] = [];
  for (const name of numberColumns) {
    const values = name === 'tokens' ? tokens : columns?.[name];
    if (values === undefined) continue;
    counts[name] = values.length;
    numbers.push(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
  }
  const json = Buffer.from(
    JSON.stringify({ ...event, tokens: undefined, columns: undefined, counts }),
  );
  const length = 4 + json.length + numbers.reduce((sum, one) => sum + one.length, 0);
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame.writeUInt32LE(length, 0);
  frame.writeUInt32LE(json.length, headBytes);
  let at = headBytes + 4;
  for (const part of [json, ...numbers]) at += part.copy(frame, at);
  frame.writeUInt32LE(crc32(frame.subarray(headBytes)), 4);
  return frame;
}

/** What stands in a file of frames: an event, or bytes that hold none. */
export type Framed =
  | { readonly event: NumberedEvent; readonly problem?: undefined }
  | { readonly problem: string; readonly event?: undefined };

/**
 * Reads frames one after another. Behind a damaged one it goes on where the next begins, as long as that one is whole.
 *
 * @yields each event with the offset of its frame; a damaged frame; at the end `cut` for one that is cut short
 */
export function* framesIn(bytes: Buffer): Generator<Framed & { offset: number; end: number }> {
  for (let offset = 0; offset < bytes.length;) {
    const rest = bytes.subarray(offset);
    const length = rest.length < headBytes ? Infinity : rest.readUInt32LE(0);
    const isWhole = headBytes + length <= rest.length && rest.some((byte) => byte !== 0);
    const next = isWhole ? headBytes + length : nextFrame(rest);
    const end = next === undefined ? bytes.length : offset + next;
    if (isWhole) yield { ...framedAt(rest.subarray(0, next)), offset, end };
    else yield { problem: next === undefined ? cutShort : 'its length is damaged', offset, end };
    offset = end;
  }
}

/** How the JSON of every event begins. */
const beginning = Buffer.from('{"seq":');

/** Where a whole frame begins behind one whose length is damaged; undefined behind one that is cut short. */
function nextFrame(rest: Buffer): number | undefined {
  const jsonAt = headBytes + 4;
  for (
    let at = rest.indexOf(beginning, jsonAt + 1);
    at >= 0;
    at = rest.indexOf(beginning, at + 1)
  ) {
    const frame = rest.subarray(at - jsonAt);
    const length = frame.readUInt32LE(0);
    if (headBytes + length > frame.length) continue;
    if (framedAt(frame.subarray(0, headBytes + length)).event !== undefined) return at - jsonAt;
  }
  return undefined;
}

/** The problem of a last frame that was being written when the process ended. */
export const cutShort = 'it is cut short';

function framedAt(frame: Buffer): Framed {
  const payload = frame.subarray(headBytes);
  if (payload.length < 4 || crc32(payload) !== frame.readUInt32LE(4))
    return { problem: 'its checksum does not match' };
  const jsonEnd = 4 + payload.readUInt32LE(0);
  const { counts, ...event } = JSON.parse(payload.toString('utf8', 4, jsonEnd)) as NumberedEvent & {
    counts: Counts;
  };
  let at = jsonEnd;
  const numbers = (count: number): ArrayBuffer => {
    const copied = Uint8Array.from(payload.subarray(at, at + 4 * count));
    at += copied.length;
    return copied.buffer;
  };
  const tokens = counts.tokens === undefined ? undefined : new Int32Array(numbers(counts.tokens));
  const columns = Object.fromEntries(
    journalColumns.flatMap((name) => {
      const count = counts[name];
      return count === undefined ? [] : [[name, new Float32Array(numbers(count))]];
    }),
  );
  const read = { ...event, ...withNumbers(tokens, columns) };
  return isKnown(read) ? { event: read } : { problem: unknownType(read) };
}

/** Columns without numbers are absent. */
export const withNumbers = (
  tokens: Int32Array | undefined,
  columns: Partial<Record<JournalColumn, Float32Array>>,
): Pick<JournalEvent, 'tokens' | 'columns'> => ({
  ...(tokens && { tokens }),
  ...(Object.keys(columns).length > 0 && { columns }),
});

const isKnown = ({ type }: NumberedEvent): boolean => journalTypes.includes(type);

const unknownType = ({ seq, type }: NumberedEvent): string =>
  `event ${seq} has the type "${type}", which this version cannot read`;

/** @throws Error for an event of a type that this version does not know */
export function checked(event: NumberedEvent): NumberedEvent {
  if (isKnown(event)) return event;
  throw new Error(unknownType(event));
}
