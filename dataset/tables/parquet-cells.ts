import { type FileMetaData, parquetSchema, type SchemaElement, type SchemaTree } from 'hyparquet';

import { isRecord } from '../../agent_rl/core/is-record.ts';
import { decimalText } from '../../agent_rl/core/tasks/decimal-text.ts';

const isDecimal = ({ converted_type: type, logical_type: logical }: SchemaElement): boolean =>
  type === 'DECIMAL' || logical?.type === 'DECIMAL';

/** How hyparquet is to read a file for `exactCell`: its decimals as they are stored, which it would make floats of. */
export function storedDecimals(metadata: FileMetaData): { metadata: FileMetaData; utf8: boolean } {
  const decimals = metadata.schema.filter(isDecimal);
  const schema = metadata.schema.map((element) => {
    if (!isDecimal(element)) return element;
    const { converted_type: _type, logical_type: _logical, ...stored } = element;
    return stored;
  });
  const utf8 = decimals.every(({ type }) => type !== 'BYTE_ARRAY');
  return { metadata: { ...metadata, schema }, utf8 };
}

/** The rows of a file with the numbers that it holds. */
export const exactRow = (metadata: FileMetaData): ((row: unknown) => unknown) => {
  const schema = parquetSchema(metadata);
  return (row) => exactCell(row, schema);
};

/** A cell with decimals as they are written, numbers of 16 and 32 bits in their fewest digits, and null for a missing number. */
function exactCell(value: unknown, node: SchemaTree | undefined): unknown {
  if (node === undefined || value === null || value === undefined) return value;
  // Vectors stay as they are.
  if (Array.isArray(value))
    return typeof value[0] === 'number' && !isDecimal(leafOf(node).element)
      ? value
      : value.map((one) => exactCell(one, node));
  const { children, element } = node;
  if (children.length === 0) return exactLeaf(value, element);
  const [only] = children;
  const fields = new Map(children.map((child) => [child.element.name, child]));
  // The levels of lists and maps are not in the value.
  if (!isRecord(value) || (fields.size === 1 && !Object.keys(value).some((key) => fields.has(key))))
    return exactCell(value, only);
  return Object.fromEntries(
    Object.entries(value).map(([key, cell]) => [
      key,
      exactCell(cell, fields.get(key) ?? fields.get('value')),
    ]),
  );
}

const leafOf = (node: SchemaTree): SchemaTree => {
  const [first] = node.children;
  return first === undefined ? node : leafOf(first);
};

function exactLeaf(value: unknown, element: SchemaElement): unknown {
  if (isDecimal(element)) return decimalOf(value, element);
  if (typeof value !== 'number') return value;
  // As pandas writes what is missing.
  if (Number.isNaN(value)) return null;
  if (element.logical_type?.type === 'FLOAT16') return shortest(value, 1, inHalf);
  return element.type === 'FLOAT' ? shortest(value, 6, Math.fround) : value;
}

/** A decimal as a number where a number is the same, and else as text. */
function decimalOf(value: unknown, { scale, logical_type: logical }: SchemaElement): unknown {
  const digits =
    value instanceof Uint8Array
      ? BigInt.asIntN(8 * value.length, BigInt(`0x0${Buffer.from(value).toString('hex')}`))
      : value;
  const below = scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0);
  const text = decimalText(`${String(digits)}e${-below}`);
  return decimalText(String(Number(text))) === text ? Number(text) : text;
}

/** The number with the fewest digits, but no fewer than asked for, that is this one once it is rounded. */
function shortest(value: number, fewest: number, rounded: (value: number) => number): number {
  for (let digits = fewest; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (rounded(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

/** A number rounded to 16 bits: ten binary digits behind the first, none below 2^-24. */
function inHalf(value: number): number {
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(value)))) - 10);
  // So large a number has no digits left for anything below the unit.
  const large = 1.5 * 2 ** 52 * unit;
  return value + large - large;
}
