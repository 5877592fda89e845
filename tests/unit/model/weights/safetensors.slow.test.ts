import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { SafetensorsFile, writeSafetensors } from '#model/weights/safetensors.ts';
import type { TensorToWrite } from '#model/weights/safetensors.ts';
import * as fc from '#tests/support/properties.ts';
import { freshFolder, temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf } from '#tests/support/thrown.ts';

const all = temporaryFolder();
let folder = '';
let file = '';

beforeEach(() => {
  folder = freshFolder(all);
  file = path.join(folder, 'model.safetensors');
});

async function readAll(): Promise<Record<string, number[]>> {
  const opened = await SafetensorsFile.open(file);
  const values: Record<string, number[]> = {};
  for (const entry of opened.entries) values[entry.name] = [...(await opened.read(entry))];
  await opened.close();
  return values;
}

/** A file made by hand: header length, header, data. */
async function writeRaw(header: unknown, data = new Uint8Array()): Promise<void> {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  await writeFile(file, Buffer.concat([length, text, data]));
}

const tensors = new Map<string, TensorToWrite>([
  ['b', { shape: [2, 2], values: Float32Array.of(1, -2, 0.5, 3) }],
  ['a', { shape: [1], values: Float32Array.of(7) }],
]);

test.each(['F32', 'F16', 'BF16'] as const)('a file of %s is read back', async (dtype) => {
  await writeSafetensors(file, tensors, { dtype });
  expect(await readAll()).toEqual({ a: [7], b: [1, -2, 0.5, 3] });
  const first = await readFile(file);
  await writeSafetensors(file, new Map([...tensors].toReversed()), { dtype });
  expect(await readFile(file)).toEqual(first);
});

test('a file has the bytes of the format, with tensors by name and a padded header', async () => {
  await writeSafetensors(file, new Map([['w', { shape: [1], values: Float32Array.of(1) }]]));
  const bytes = await readFile(file);
  const length = Number(bytes.readBigUInt64LE());
  expect(length % 8).toBe(0);
  expect(JSON.parse(bytes.subarray(8, 8 + length).toString())).toEqual({
    __metadata__: { format: 'pt' },
    w: { dtype: 'F32', shape: [1], data_offsets: [0, 4] },
  });
  expect([...bytes.subarray(8 + length)]).toEqual([0, 0, 0x80, 0x3f]);
});

test('bytes stay bytes whatever the dtype of the floats, and follow them', async () => {
  const mixed = new Map<string, TensorToWrite>([
    ['a', { shape: [1, 3], values: Uint8Array.of(0, 200, 255) }],
    ['b', { shape: [2], values: Float32Array.of(1, -2) }],
  ]);
  await writeSafetensors(file, mixed, { dtype: 'BF16' });
  const opened = await SafetensorsFile.open(file);
  const read = await Promise.all(opened.entries.map((entry) => opened.read(entry)));
  expect(opened.entries).toEqual([
    { name: 'b', dtype: 'BF16', shape: [2], start: 0, end: 4 },
    { name: 'a', dtype: 'U8', shape: [1, 3], start: 4, end: 7 },
  ]);
  expect(read).toEqual([Float32Array.of(1, -2), Uint8Array.of(0, 200, 255)]);
  const floats = opened.readFloats(opened.entries[1]!);
  await expect(floats).rejects.toThrow(/"a" has dtype "U8"; expected F32, F16 or BF16/);
  await opened.close();
});

test('a tensor of more than one piece is joined without a seam', async () => {
  // A piece is 2^25 halves; bfloat16 holds the values exactly.
  const values = Float32Array.from({ length: 2 ** 25 + 3 }, (_, i) => i % 251);
  const tensor = { shape: [values.length], values };
  await writeSafetensors(file, new Map([['w', tensor]]), { dtype: 'BF16' });
  const opened = await SafetensorsFile.open(file);
  const read = await opened.readFloats(opened.entries[0]!);
  await opened.close();
  expect(Buffer.from(read.buffer).equals(Buffer.from(values.buffer))).toBe(true);
});

test('a file that is cut short after it was opened is refused', async () => {
  await writeSafetensors(file, tensors);
  const opened = await SafetensorsFile.open(file);
  await truncate(file, (await stat(file)).size - 1);
  await expect(opened.read(opened.entries[1]!)).rejects.toThrow(
    /ends within the 16 bytes of tensor "b"/,
  );
  await opened.close();
});

test('any float32 values are read back as they were', async () => {
  const name = fc.string().filter((one) => one !== '__metadata__' && one !== '__proto__');
  const values = fc.array(fc.float({ noNaN: true }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, values), async (made) => {
      const written = Object.entries(made).map(
        ([key, numbers]) =>
          [key, { shape: [numbers.length], values: Float32Array.from(numbers) }] as const,
      );
      await writeSafetensors(file, new Map(written));
      expect(await readAll()).toEqual(made);
    }),
    { numRuns: 30 },
  );
});

describe('A damaged file', () => {
  const f32 = (shape: number[], start: number, end: number, dtype = 'F32') => ({
    dtype,
    shape,
    data_offsets: [start, end],
  });

  test.each([
    ['a header that is not JSON', '{"a": ', 0, /header is not JSON/],
    ['a header that is a list', [], 0, /not a JSON object/],
    ['an unknown dtype', { a: f32([1], 0, 8, 'F64') }, 8, /"a" has dtype "F64"; F32, F16/],
    ['a negative size', { a: f32([-1], 0, 4) }, 4, /"a" has shape \[-1\]/],
    ['offsets the wrong way round', { a: f32([1], 4, 0) }, 4, /"a" has data_offsets \[4,0\]/],
    ['a wrong size', { a: f32([2, 2], 0, 8) }, 8, /"a" of F32 \[2, 2\] needs 16 bytes .* 8/],
    ['overlaps', { a: f32([2], 0, 8), b: f32([1], 4, 8) }, 8, /"b" starts at byte 4.*overlaps/],
    ['a hole', { a: f32([1], 0, 4), b: f32([1], 8, 12) }, 12, /"b" starts at byte 8.*unused/],
    ['data cut short', { a: f32([4], 0, 16) }, 10, /"a" ends at byte 16 .* 10; .* cut short/],
    ['bytes left over', { a: f32([1], 0, 4) }, 9, /end at byte 4 of the data, which has 9/],
    ['a tensor that is not an object', { a: 3 }, 0, /"a" is described by 3/],
  ])('is refused by name if it has %s', async (_, header, dataBytes, message) => {
    await writeRaw(header, new Uint8Array(dataBytes));
    await expect(SafetensorsFile.open(file)).rejects.toThrow(message);
    await expect(SafetensorsFile.open(file)).rejects.toThrow(file);
  });

  test.each([
    ['shorter than its length field', Buffer.from([1, 2, 3]), /it has 3 bytes/],
    ['cut inside the header', Buffer.from('\xc8\0\0\0\0\0\0\0{}', 'latin1'), /but 2 follow/],
    ['a zip archive', Buffer.from('PK\u0003\u0004 this is a zip'), /not a safetensors file/],
  ])('is refused if it is %s', async (_, bytes, message) => {
    await writeFile(file, bytes);
    await expect(SafetensorsFile.open(file)).rejects.toThrow(message);
  });

  test('is refused if it is a folder or does not exist', async () => {
    const opening = SafetensorsFile.open(folder);
    await expect(opening).rejects.toMatchObject(errorOf('MODEL_INVALID', 'it is not a file'));
    await expect(SafetensorsFile.open(file)).rejects.toMatchObject(errorOf('MODEL_INVALID', file));
  });
});

test('a value too large for float16 is refused and leaves no file', async () => {
  const large = new Map([['a', { shape: [1], values: Float32Array.of(70000) }]]);
  const writing = writeSafetensors(file, large, { dtype: 'F16' });
  await expect(writing).rejects.toThrow(/"a" holds 70000; the largest F16 value is 65504/);
  expect(await readdir(folder)).toEqual([]);
  const nowhere = writeSafetensors(path.join(folder, 'absent', 'model.safetensors'), tensors);
  await expect(nowhere).rejects.toMatchObject({ code: 'OUTPUT_UNWRITABLE' });
});
