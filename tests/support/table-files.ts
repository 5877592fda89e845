/** Rows of one shape. */
export type TableRow = Readonly<Record<string, string>>;

const cell = (value: string): string => `"${value.replaceAll('"', '""')}"`;

/** Rows as CSV, every cell in quotes. */
export const csvOf = (rows: readonly TableRow[]): string =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.map(cell).join(',')}\n`)
    .join('');

// Parquet, as small as it can be: columns of texts, PLAIN and not compressed, a page and a row group for each column. The
// structures follow https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift in
// Thrift's compact protocol.

/** A value as Thrift writes it, with the number of its type. */
interface Value {
  type: number;
  bytes: readonly number[];
}
/** Values by the ids of their fields. */
type Fields = Readonly<Record<number, Value>>;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return [...bytes, left];
}

const i32 = (value: number): Value => ({ type: 5, bytes: varint(2 * value) });
const i64 = (value: number): Value => ({ ...i32(value), type: 6 });

function text(value: string): Value {
  const bytes = [...Buffer.from(value)];
  return { type: 8, bytes: [...varint(bytes.length), ...bytes] };
}

function list(items: readonly Value[]): Value {
  const { type } = items[0] ?? i32(0);
  const head =
    items.length < 15 ? [items.length * 16 + type] : [240 + type, ...varint(items.length)];
  return { type: 9, bytes: [...head, ...items.flatMap(({ bytes }) => bytes)] };
}

function struct(fields: Fields): Value {
  const ids = Object.keys(fields).map(Number);
  const bytes = ids.flatMap((id, at) => {
    const { type, bytes: own } = fields[id]!;
    return [(id - (ids[at - 1] ?? 0)) * 16 + type].concat(own);
  });
  return { type: 12, bytes: [...bytes, 0] };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
const uint32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const byteArray = i32(6);

function pageOf(texts: readonly string[]): Buffer {
  const cells = texts.map((one) => Buffer.from(one));
  const data = Buffer.concat(cells.flatMap((one) => [uint32(one.length), one]));
  const [plain, rle, size] = [i32(0), i32(3), i32(data.length)];
  const head = struct({ 1: i32(texts.length), 2: plain, 3: rle, 4: rle });
  const header = struct({ 1: i32(0), 2: size, 3: size, 5: head });
  return Buffer.concat([Buffer.from(header.bytes), data]);
}

/** Rows as a Parquet file. */
export function parquetOf(rows: readonly TableRow[]): Buffer {
  const names = Object.keys(rows[0] ?? {});
  const pages = names.map((name) => pageOf(rows.map((row) => row[name] ?? '')));
  const sizes = pages.map(({ length }) => length);
  const count = i64(rows.length);
  const chunks = names.map((name, index) => {
    const [start, size] = [i64(4 + sum(sizes.slice(0, index))), i64(sizes[index] ?? 0)];
    const path = { 1: byteArray, 2: list([i32(0)]), 3: list([text(name)]), 4: i32(0) };
    return struct({ 2: start, 3: struct({ ...path, 5: count, 6: size, 7: size, 9: start }) });
  });
  const columns = names.map((name) =>
    struct({ 1: byteArray, 3: i32(0), 4: text(name), 6: i32(0) }),
  );
  const root = struct({ 4: text('root'), 5: i32(names.length) });
  const group = struct({ 1: list(chunks), 2: i64(sum(sizes)), 3: count });
  const all = struct({ 1: i32(1), 2: list([root, ...columns]), 3: count, 4: list([group]) });
  const [footer, magic] = [Buffer.from(all.bytes), Buffer.from('PAR1')];
  return Buffer.concat([magic, ...pages, footer, uint32(footer.length), magic]);
}
