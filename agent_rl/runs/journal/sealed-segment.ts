import { gunzipSync, gzipSync } from 'node:zlib';

import { type AsyncBuffer, parquetReadObjects, type SchemaElement } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';

import { journalColumns, type JournalEvent } from '../../core/services/journal.ts';
import { listOf, optional, textOf } from '../../core/wire/parquet-schema.ts';
import { checked, type NumberedEvent, withNumbers } from './event-frame.ts';

/* Events as a Parquet file: a row each, in the order of the journal. What has no column of its own is JSON in `data`. */

type Scalar = Exclude<keyof JournalEvent, 'tokens' | 'columns' | 'data'>;

const texts = ['type', 'when', 'agent'] as const satisfies readonly Scalar[];
const integers = [
  'seq',
  'iteration',
  'round',
  'slot',
  'sample',
  'attempt',
  'call',
  'version',
] as const;
/** Of an external agent it has 48 bits. */
const long = 'turn';

/** Rows that are decoded together. */
const rowGroupRows = 4096;

const numbers = (name: string, type: 'INT32' | 'FLOAT'): SchemaElement[] =>
  listOf(name, { name: 'element', type, repetition_type: 'REQUIRED' });

const schema: SchemaElement[] = [
  { name: 'event', num_children: texts.length + integers.length + 2 + 1 + journalColumns.length },
  ...texts.map(textOf),
  ...integers.map((name): SchemaElement => ({ name, type: 'INT32', ...optional })),
  { name: long, type: 'INT64', ...optional },
  textOf('data'),
  ...numbers('tokens', 'INT32'),
  ...journalColumns.flatMap((name) => numbers(name, 'FLOAT')),
];

const codec = {
  codec: 'GZIP',
  compressors: { GZIP: (bytes: Uint8Array) => gzipSync(bytes, { level: 4 }) },
} as const;

/** The Parquet file of some events. */
export function sealedBytes(events: readonly NumberedEvent[]): Buffer {
  const column = (name: string, of: (event: NumberedEvent) => unknown): ColumnSource => ({
    name,
    data: events.map((event) => of(event) ?? null),
  });
  const columnData = [
    ...texts.map((name) => column(name, (event) => event[name])),
    ...integers.map((name) => column(name, (event) => event[name])),
    column(long, ({ turn }) => (turn === undefined ? undefined : BigInt(turn))),
    column('data', ({ data }) => data && JSON.stringify(data)),
    column('tokens', ({ tokens }) => tokens && Array.from(tokens)),
    ...journalColumns.map((name) =>
      column(name, ({ columns }) => {
        const values = columns?.[name];
        return values && Array.from(values);
      }),
    ),
  ];
  return Buffer.from(
    parquetWriteBuffer({
      columnData,
      schema,
      rowGroupSize: rowGroupRows,
      createdBy: 'agent_rl',
      ...codec,
    }),
  );
}

/** What of a Parquet file is read: lists of numbers take most of the time. */
export type Extent = 'whole' | 'outline' | 'session';

const outline = [...texts, ...integers, long, 'data'];

/** The events of a Parquet file; the first alone if it is a session that is read, and none if it is not. */
export async function eventsIn(file: AsyncBuffer, extent: Extent): Promise<NumberedEvent[]> {
  const compressors = { GZIP: (bytes: Uint8Array) => gunzipSync(bytes) };
  const columns = extent === 'whole' ? {} : { columns: outline };
  const rows = extent === 'session' ? { rowStart: 0, rowEnd: 1 } : {};
  const read = (more: { columns?: string[] }) =>
    parquetReadObjects({ file, compressors, ...rows, ...more });
  if (extent === 'session') {
    const [first] = await read({ columns: ['type'] });
    if (first?.['type'] !== 'session') return [];
  }
  return (await read(columns)).map(eventOf);
}

/** A column without any value is not in the rows. */
const isGiven = <Value>(value: Value): value is NonNullable<Value> =>
  value !== null && value !== undefined;

function eventOf(row: Record<string, unknown>): NumberedEvent {
  const { data, tokens, turn, ...others } = row;
  const event: Record<string, unknown> = {};
  for (const name of [...texts, ...integers]) if (isGiven(others[name])) event[name] = others[name];
  if (isGiven(turn)) event[long] = Number(turn);
  if (typeof data === 'string') event['data'] = JSON.parse(data);
  const columns = Object.fromEntries(
    journalColumns.flatMap((name) => {
      const values = others[name] as number[] | null | undefined;
      return isGiven(values) ? [[name, Float32Array.from(values)]] : [];
    }),
  );
  const drawn = isGiven(tokens) ? Int32Array.from(tokens as number[]) : undefined;
  return checked({ ...event, ...withNumbers(drawn, columns) } as unknown as NumberedEvent);
}
