/** Rows of one shape. */
export type TableRow = Readonly<Record<string, string>>;

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Rows as CSV, every cell in quotes. */
export const csvOf = (rows: readonly TableRow[]): string =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.map(cell).join(',')}\n`)
    .join('');

/*
 * Parquet, as small as it can be: columns of texts, PLAIN and not compressed, a page and a row group for each column. The
 * structures follow https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift in
 * Thrift's compact protocol.
 */

/** A value by its Thrift type. */
type Field =
  | readonly [type: 'i32' | 'i64', value: number]
  | readonly [type: 'text', value: string]
  | readonly [
      type: 'list',
      of: 'i32' | 'text' | 'struct',
      items: readonly (number | string | Struct)[],
    ]
  | readonly [type: 'struct', value: Struct];
/** Fields by their ids, rising. */
type Struct = readonly (readonly [id: number, field: Field])[];

const codes = { i32: 5, i64: 6, text: 8, list: 9, struct: 12 } as const;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return [...bytes, left];
}

const zigzag = (value: number): number[] => varint(value >= 0 ? 2 * value : -2 * value - 1);

const textBytes = (text: string): number[] => {
  const bytes = [...Buffer.from(text)];
  return [...varint(bytes.length), ...bytes];
};

function item(value: number | string | Struct): number[] {
  if (typeof value === 'number') return zigzag(value);
  return typeof value === 'string' ? textBytes(value) : struct(value);
}

function fieldBytes(field: Field): number[] {
  if (field[0] !== 'list') return item(field[1]);
  const [, of, items] = field;
  const head =
    items.length < 15
      ? [items.length * 16 + codes[of]]
      : [240 + codes[of], ...varint(items.length)];
  return [...head, ...items.flatMap(item)];
}

function struct(fields: Struct): number[] {
  let last = 0;
  const bytes = fields.flatMap(([id, field]) => {
    const head = (id - last) * 16 + codes[field[0]];
    last = id;
    return [head, ...fieldBytes(field)];
  });
  return [...bytes, 0];
}

const byteArray = 6;

function pageOf(texts: readonly string[]): Buffer {
  const data = Buffer.concat(
    texts.flatMap((text) => {
      const bytes = Buffer.from(text);
      const size = Buffer.alloc(4);
      size.writeUInt32LE(bytes.length);
      return [size, bytes];
    }),
  );
  const rle = 3;
  const header = struct([
    [1, ['i32', 0]],
    [2, ['i32', data.length]],
    [3, ['i32', data.length]],
    [
      5,
      [
        'struct',
        [
          [1, ['i32', texts.length]],
          [2, ['i32', 0]],
          [3, ['i32', rle]],
          [4, ['i32', rle]],
        ],
      ],
    ],
  ]);
  return Buffer.concat([Buffer.from(header), data]);
}

/** Rows as a Parquet file. */
export function parquetOf(rows: readonly TableRow[]): Buffer {
  const names = Object.keys(rows[0] ?? {});
  const pages = names.map((name) => pageOf(rows.map((row) => row[name] ?? '')));
  const starts = pages.map((_, index) =>
    pages.slice(0, index).reduce((sum, page) => sum + page.length, 4),
  );
  const chunk = (name: string, index: number): Struct => {
    const [start = 0, size = 0] = [starts[index], pages[index]?.length];
    return [
      [2, ['i64', start]],
      [
        3,
        [
          'struct',
          [
            [1, ['i32', byteArray]],
            [2, ['list', 'i32', [0]]],
            [3, ['list', 'text', [name]]],
            [4, ['i32', 0]],
            [5, ['i64', rows.length]],
            [6, ['i64', size]],
            [7, ['i64', size]],
            [9, ['i64', start]],
          ],
        ],
      ],
    ];
  };
  const column = (name: string): Struct => [
    [1, ['i32', byteArray]],
    [3, ['i32', 0]],
    [4, ['text', name]],
    [6, ['i32', 0]],
  ];
  const group: Struct = [
    [1, ['list', 'struct', names.map(chunk)]],
    [2, ['i64', pages.reduce((sum, page) => sum + page.length, 0)]],
    [3, ['i64', rows.length]],
  ];
  const root: Struct = [
    [4, ['text', 'root']],
    [5, ['i32', names.length]],
  ];
  const footer = Buffer.from(
    struct([
      [1, ['i32', 1]],
      [2, ['list', 'struct', [root, ...names.map(column)]]],
      [3, ['i64', rows.length]],
      [4, ['list', 'struct', [group]]],
    ]),
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.from('PAR1'), ...pages, footer, size, Buffer.from('PAR1')]);
}
