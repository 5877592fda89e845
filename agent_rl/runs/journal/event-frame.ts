import { crc32 } from 'node:zlib';

import { isRecord } from '../../core/is-record.ts';
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
/** Beyond it a length is damage: no event is that long. */
const mostBytes = 2 ** 30;

type Counts = Partial<Record<'tokens' | JournalColumn, number>>;
const numberColumns = ['tokens', ...journalColumns] as const;

export function frameOf({ tokens, columns, ...event }: NumberedEvent): Buffer {
  const arrays = numberColumns.flatMap((name) => {
    const values = name === 'tokens' ? tokens : columns?.[name];
    return values === undefined ? [] : [{ name, values }];
  });
  const counts = Object.fromEntries(arrays.map(({ name, values }) => [name, values.length]));
  const json = Buffer.from(JSON.stringify({ ...event, counts }));
  const numbers = arrays.map(({ values }) =>
    Buffer.from(values.buffer, values.byteOffset, values.byteLength),
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
  let offset = 0;
  while (offset < bytes.length) {
    const length = offset + headBytes <= bytes.length ? bytes.readUInt32LE(offset) : Infinity;
    const end = offset + headBytes + length;
    if (end > bytes.length) {
      const problem =
        length > mostBytes && length !== Infinity ? 'its length is damaged' : cutShort;
      yield { problem, offset, end: bytes.length };
      return;
    }
    yield { ...framedAt(bytes.subarray(offset, end)), offset, end };
    offset = end;
  }
}

/** The problem of a last frame that was being written when the process ended. */
export const cutShort = 'it is cut short';

function framedAt(frame: Buffer): Framed {
  const payload = frame.subarray(headBytes);
  if (crc32(payload) !== frame.readUInt32LE(4)) return { problem: 'its checksum does not match' };
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
  return { event: checked({ ...event, ...withNumbers(tokens, columns) }) };
}

/** Columns without numbers are absent. */
export const withNumbers = (
  tokens: Int32Array | undefined,
  columns: Partial<Record<JournalColumn, Float32Array>>,
): Pick<JournalEvent, 'tokens' | 'columns'> => ({
  ...(tokens && { tokens }),
  ...(Object.keys(columns).length > 0 && { columns }),
});

/** @throws Error for an event of a type that this version does not know */
export function checked(event: NumberedEvent): NumberedEvent {
  if (isRecord(event) && journalTypes.includes(event.type)) return event;
  throw new Error(
    `event ${event.seq} has the type "${event.type}", which this version cannot read`,
  );
}
