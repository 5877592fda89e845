/*
 * Protobuf's wire format: a key (field number * 8 + wire type) before each value,
 * https://protobuf.dev/programming-guides/encoding
 */

const wire = { varint: 0, eightBytes: 1, bytes: 2, fourBytes: 5 } as const;

const key = (field: number, type: keyof typeof wire): Buffer => varint(field * 8 + wire[type]);

/** A whole number from 0 to 2^53 - 1, seven bits a byte, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A field of a whole number from 0 to 2^53 - 1. */
export const wholeField = (field: number, value: number): Buffer =>
  Buffer.concat([key(field, 'varint'), varint(value)]);

/** Whole numbers of one field in one piece, as proto3 packs them. */
export const packedField = (field: number, values: readonly number[]): Buffer =>
  bytesField(field, ...values.map(varint));

export function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(field, 'eightBytes'), bytes]);
}

/** Written by a typed array: `writeFloatLE` refuses numbers beyond float32, which become infinite here. */
export function floatField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0);
  return Buffer.concat([key(field, 'fourBytes'), bytes]);
}

/** A field of bytes, a text or a message: its parts one after another. */
export const bytesField = (field: number, ...parts: readonly (Uint8Array | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([key(field, 'bytes'), varint(body.length), body]);
};

/** A field as it was read. */
export interface Field {
  field: number;
  /** Of a varint. */
  number: number;
  /** Of any other. */
  body: Buffer;
}

/** @throws Error for bytes that are no message */
export function fieldsOf(message: Buffer): Field[] {
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = message[at++];
      if (byte === undefined || scale > 2 ** 63) throw torn();
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > message.length) throw torn();
    return message.subarray(at, (at += length));
  };
  const fields: Field[] = [];
  while (at < message.length) {
    const head = next();
    const [field, type] = [Math.floor(head / 8), head % 8];
    const number = type === wire.varint ? next() : 0;
    fields.push({ field, number, body: type === wire.varint ? none : take(lengthOf(type, next)) });
  }
  return fields;
}

const none = Buffer.alloc(0);

function lengthOf(type: number, next: () => number): number {
  if (type === wire.bytes) return next();
  if (type === wire.eightBytes) return 8;
  if (type === wire.fourBytes) return 4;
  throw new Error(`The bytes are not a protobuf message: unknown wire type ${type}.`);
}

const torn = (): Error =>
  new Error('The bytes are not a protobuf message: they end within a field.');
