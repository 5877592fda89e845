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

/** As JSON: numbers that differ from token to token are base64, 4 bytes each, little-endian. */
type Written = Omit<NumberedEvent, 'tokens' | 'columns'> & {
  tokens?: string;
  columns?: Partial<Record<JournalColumn, string>>;
};

const newline = 10;
/** Eight digits and a space. */
const headBytes = 9;

/**
 * An event as a line: the CRC-32 of its JSON in hexadecimal digits, a space and the JSON. A process that is killed leaves at
 * most one line cut short, the last.
 */
export function frameOf({ tokens, columns, ...event }: NumberedEvent): Buffer {
  const encoded = Object.entries(columns ?? {}).map(([name, values]) => [name, base64(values)]);
  const written: Written = {
    ...event,
    ...(tokens && { tokens: base64(tokens) }),
    ...(columns && { columns: Object.fromEntries(encoded) }),
  };
  const json = JSON.stringify(written);
  return Buffer.from(`${headOf(json)}${json}\n`);
}

const headOf = (json: Buffer | string): string => `${crc32(json).toString(16).padStart(8, '0')} `;

const base64 = ({ buffer, byteOffset, byteLength }: Int32Array | Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

/** What stands in a line: an event, or bytes that hold none. */
export type Framed =
  | { readonly event: NumberedEvent; readonly problem?: undefined }
  | { readonly problem: string; readonly event?: undefined };

/** The problem of a last line that was being written when the process ended. */
export const cutShort = 'it is cut short';

/**
 * Reads line after line.
 *
 * @yields each event, or what is wrong with it, and the offset of its line
 */
export function* framesIn(bytes: Buffer): Generator<Framed & { offset: number; end: number }> {
  for (let offset = 0; offset < bytes.length;) {
    const at = bytes.indexOf(newline, offset);
    const end = at < 0 ? bytes.length : at + 1;
    yield {
      ...(at < 0 ? { problem: cutShort } : eventIn(bytes.subarray(offset, at))),
      offset,
      end,
    };
    offset = end;
  }
}

function eventIn(line: Buffer): Framed {
  const json = line.subarray(headBytes);
  if (line.toString('latin1', 0, headBytes) !== headOf(json))
    return { problem: 'its checksum does not match' };
  const { tokens, columns, ...event } = JSON.parse(json.toString()) as Written;
  const numbers = journalColumns.flatMap((name) => {
    const values = columns?.[name];
    return values === undefined ? [] : [[name, new Float32Array(bytesOf(values))]];
  });
  const ids = tokens === undefined ? undefined : new Int32Array(bytesOf(tokens));
  const read = { ...event, ...withNumbers(ids, Object.fromEntries(numbers)) };
  return isKnown(read) ? { event: read } : { problem: unknownType(read) };
}

const bytesOf = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text, 'base64')).buffer;

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
