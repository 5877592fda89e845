import { writeFileSync } from 'node:fs';

/** A tensor to write: sizes as Hugging Face has them, outputs first, and its bytes as ggml stores them. */
export interface WrittenTensor {
  shape: readonly number[];
  /** Number of its type in ggml. */
  type: number;
  bytes: Uint8Array;
  /** Where the header says that it lies, from the beginning of the data; where it does lie by default. */
  at?: number;
}

/** Numbers are written as uint32 where they are whole, and as float32 otherwise. */
export type WrittenValue = string | number | boolean | readonly string[] | readonly number[];

const kinds = { uint32: 4, float32: 6, bool: 7, text: 8, list: 9 } as const;
const alignment = 32;

const uint32 = (value: number): Buffer => Buffer.from(Uint32Array.of(value).buffer);
const uint64 = (value: number): Buffer => Buffer.from(BigUint64Array.of(BigInt(value)).buffer);
const text = (value: string): Buffer =>
  Buffer.concat([uint64(Buffer.byteLength(value)), Buffer.from(value)]);

function kindOf(value: WrittenValue): number {
  if (typeof value === 'string') return kinds.text;
  if (typeof value === 'boolean') return kinds.bool;
  if (typeof value !== 'number') return kinds.list;
  return Number.isInteger(value) ? kinds.uint32 : kinds.float32;
}

function bytesOf(value: WrittenValue): Buffer {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'boolean') return Buffer.from([Number(value)]);
  if (typeof value === 'number')
    return Number.isInteger(value) ? uint32(value) : Buffer.from(Float32Array.of(value).buffer);
  const items = value.map((item: string | number) => bytesOf(item));
  return Buffer.concat([uint32(kindOf(value[0] ?? '')), uint64(value.length), ...items]);
}

const padded = (bytes: Uint8Array): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(-bytes.length & (alignment - 1))]);

/** Writes a GGUF file of version 3. */
export function writeGguf(
  path: string,
  metadata: Readonly<Record<string, WrittenValue>>,
  tensors: Readonly<Record<string, WrittenTensor>>,
): void {
  let offset = 0;
  const described = Object.entries(tensors).map(([name, { shape, type, bytes, at = offset }]) => {
    offset += padded(bytes).length;
    const sizes = shape.toReversed().map(uint64);
    return Buffer.concat([text(name), uint32(shape.length), ...sizes, uint32(type), uint64(at)]);
  });
  const values = Object.entries(metadata).map(([name, value]) =>
    Buffer.concat([text(name), uint32(kindOf(value)), bytesOf(value)]),
  );
  const counts = [uint64(described.length), uint64(values.length)];
  const start = [Buffer.from('GGUF'), uint32(3), ...counts];
  const header = Buffer.concat([...start, ...values, ...described]);
  const data = Object.values(tensors).map(({ bytes }) => padded(bytes));
  writeFileSync(path, Buffer.concat([padded(header), ...data]));
}

/** Bytes of floats, as type 0 of ggml has them. */
export const float32Bytes = (values: Float32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
