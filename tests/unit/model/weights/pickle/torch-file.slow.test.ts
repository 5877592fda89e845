import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { beforeEach, describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import { inspectModel, loadModel } from '#model/weights/load-model.ts';
import { TorchFile } from '#model/weights/pickle/torch-file.ts';
import { TorchRules } from '#model/weights/pickle/torch-rules.ts';
import { unpickle } from '#model/weights/pickle/unpickle.ts';
import * as fc from '#tests/support/properties.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { errorOf } from '#tests/support/thrown.ts';

const fixtures = fileURLToPath(new URL('../../../../fixtures/pickle', import.meta.url));
const readFixture = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(path.join(fixtures, name), 'utf8'));
const hostile = (await readFixture('hostile.json')) as {
  pickles: Readonly<Record<string, string>>;
  files: Readonly<Record<string, string>>;
};

const folder = temporaryFolder();
const written = path.join(folder, 'written.pth');

/** Opens a file with these bytes, which must fail with `MODEL_INVALID`. */
async function refuses(bytes: Uint8Array, message: RegExp): Promise<void> {
  await writeFile(written, bytes);
  await expect(TorchFile.open(written)).rejects.toMatchObject(errorOf('MODEL_INVALID', message));
}

test('a file of torch is read with every width, views in any order and shared storages', async () => {
  const file = await TorchFile.open(path.join(fixtures, 'state.pth'));
  const read: Record<string, unknown> = {};
  for (const entry of file.entries)
    read[entry.name] = { shape: entry.shape, values: [...(await file.read(entry))] };
  await file.close();
  expect(read).toEqual(await readFixture('state.json'));
  const widths = Object.fromEntries(file.entries.map(({ name, dtype }) => [name, dtype]));
  expect(widths).toMatchObject({ whole: 'F32', half: 'F16', brain: 'BF16' });
});

describe("A folder with MiniMind's own file", () => {
  const minimind = path.join(folder, 'minimind');
  beforeEach(async () => {
    await rm(minimind, { recursive: true, force: true });
    await mkdir(minimind);
    const { config } = (await readFixture('minimind.json')) as { config: unknown };
    await writeFile(path.join(minimind, 'config.json'), JSON.stringify(config));
    await cp(path.join(fixtures, 'minimind.pth'), path.join(minimind, 'full_sft_16.pth'));
  });

  const published = ['pytorch_model.bin', 'pytorch_model-00001-of-00001.bin'];
  test.each(published)('loads as %s too, as Transformers stores it', async (name) => {
    const whole = await loadModel(minimind);
    await rename(path.join(minimind, 'full_sft_16.pth'), path.join(minimind, name));
    if (name !== 'pytorch_model.bin') {
      const map = Object.fromEntries([...whole.parameters.keys()].map((tensor) => [tensor, name]));
      const index = path.join(minimind, 'pytorch_model.bin.index.json');
      await writeFile(index, JSON.stringify({ weight_map: map }));
    }
    expect(await loadModel(minimind)).toEqual(whole);
    expect((await inspectModel(minimind)).files).toEqual([path.join(minimind, name)]);
  });

  test('loads as version 3, without the tied head and the rotary buffers', async () => {
    const { tensors } = (await readFixture('minimind.json')) as { tensors: object };
    const { config, parameters, storedDtype } = await loadModel(minimind);
    expect(config).toMatchObject({ family: 'qwen3', qkNorm: true, tiedEmbeddings: true });
    expect(storedDtype).toBe('F16');
    const derived = new Set(['lm_head.weight', 'model.freqs_cos', 'model.freqs_sin']);
    const expected = Object.entries(tensors).filter(([name]) => !derived.has(name));
    const read = [...parameters].map(([name, values]) => [name, [...values]]);
    expect(Object.fromEntries(read)).toEqual(Object.fromEntries(expected));
  });

  test('is inspected by its headers', async () => {
    // 12 x 16 embeddings; a layer of 2 x 16 + 2 x 8 norms, 16 x (16 + 16 + 8 + 8) and 3 x 16 x 24; a norm of 16.
    const parameterCount = 192 + 48 + 768 + 1152 + 16;
    expect(await inspectModel(minimind)).toMatchObject({
      parameterCount,
      bytes: 2 * parameterCount,
      files: [path.join(minimind, 'full_sft_16.pth')],
    });
  });

  test('is refused beside another one', async () => {
    await cp(path.join(fixtures, 'minimind.pth'), path.join(minimind, 'dpo_16.pth'));
    await expect(loadModel(minimind)).rejects.toThrow(/models: dpo_16\.pth, full_sft_16\.pth/);
  });
});

/** What the refusal of each hostile pickle must name. */
const refusals: Readonly<Record<string, RegExp>> = {
  'os.system': /holds posix\.system\./,
  'os.system, protocol 4': /holds posix\.system\./,
  'builtins.eval': /holds __builtin__\.eval\./,
  getattr: /holds builtins\.getattr\./,
  'torch.load': /holds torch\.load\./,
  'a name above an allowed one': /holds torch\._utils\._rebuild_tensor_v2\.__globals__\./,
  'an object': /holds __main__\.Plain\.|holds copy_reg\._reconstructor\./,
  'an object by INST': /holds os\.system \(opcode INST\)/,
  'an object by OBJ': /holds opcode OBJ/,
  'an object by NEWOBJ': /holds opcode NEWOBJ/,
  'an extension': /holds opcode EXT1/,
  'a call of a dict': /a call of something other than a tensor function/,
  'a call of text': /a call of something other than a tensor function/,
  'a call without a tuple': /a call with no tuple of arguments/,
  'a dict made of pairs': /a call of something other than a tensor function/,
  'a storage called': /a call of something other than a tensor function/,
  'state for a plain dict': /state \(opcode BUILD\)/,
  'state of its own': /state \(opcode BUILD\)/,
  'state for a tensor': /state \(opcode BUILD\)/,
  'an item for a tensor': /items for something other than a dict/,
  'an item for a list': /items for something other than a dict/,
  'an item appended to a dict': /items for something other than a list/,
  'a key that is a tuple': /a key that is neither text nor number/,
  'another kind of storage': /torch\.LongStorage, values other than float32/,
  'a storage by a path': /a reference to something other than a storage/,
  'a reference to something else': /a reference to something other than a storage/,
  'a tensor made large from one value': /\[2147483647, 2147483647\] that reaches beyond the 4/,
  'a tensor beyond its storage': /a tensor \[4\] that reaches beyond the 4 values/,
  'a tensor before its storage': /a tensor with an invalid description/,
  'a negative size': /a tensor with invalid sizes/,
  'strides that do not fit': /a tensor with an invalid description/,
  'a tensor of a thousand axes': /a tensor with invalid sizes/,
  'text longer than the file': /2147483647 bytes that begins at byte 7, but only 11/,
  'a whole number of 255 bytes': /a whole number of 255 bytes/,
  'a whole number too large': /the whole number 9223372036854775807/,
  'a memo never written': /memo 7, which was never written/,
  'items without a mark': /items without a mark/,
  nothing: /an operation that pops from an empty stack/,
  'no end': /1 bytes that begins at byte 3,/,
  'a key without its value': /a key without its value/,
  'another protocol': /pickle protocol 9/,
  'a name without an end': /a name without an end/,
  'raw bytes': /opcode 0x43/,
  'a dict in a dict': /"model", which is not a tensor/,
  'a number for a tensor': /"w", which is not a tensor/,
  itself: /"w", which is not a tensor/,
  'a list': /something other than a dict of tensors/,
};

describe('A hostile pickle', () => {
  test('exists for every refusal', () => {
    expect(Object.keys(hostile.pickles).toSorted()).toEqual(Object.keys(refusals).toSorted());
  });

  test.each(Object.entries(refusals))('is refused by name: %s', async (name, message) => {
    const pickle = Buffer.from(hostile.pickles[name] ?? '', 'base64');
    await refuses(zipOf({ 'data.pkl': pickle, 'data/0': Buffer.alloc(16) }), message);
  });

  test('cannot name a key that reaches a prototype', () => {
    // {'__proto__': {'polluted': True}}
    const text = (value: string) => [0x58, value.length, 0, 0, 0, ...Buffer.from(value)];
    const inner = [0x7d, ...text('polluted'), 0x88, 0x73];
    const pickle = Uint8Array.from([0x7d, ...text('__proto__'), ...inner, 0x73, 0x2e]);
    const dict = unpickle(pickle, new TorchRules('x'), 'x');
    expect(dict).toEqual(new Map([['__proto__', new Map([['polluted', true]])]]));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('cannot spend time beyond its length by marks and references', () => {
    const marks = Buffer.concat([Buffer.from([0x80, 2]), Buffer.alloc(2 ** 20, 0x28)]);
    expect(() => unpickle(marks, new TorchRules('x'), 'x')).toThrow(/1 bytes that begins at byte/);
  });
});

describe('A file that torch did not save', () => {
  test.each([
    ['compressed', /is compressed; PyTorch does not compress/],
    ['of another byte order', /with another byte order/],
    ['without its pickle', /holds 0 entries data\.pkl/],
    ['without a storage', /storage 0 should have 16 bytes, but has no entry/],
    ['with a storage too short', /storage 0 should have 16 bytes, but has 12/],
    ['with two pickles', /holds 2 entries data\.pkl/],
    ['cut short', /it is not a zip/],
    ['no zip', /it is not a zip.*PyTorch older than 1\.6/],
  ])('is refused if it is %s', async (name, message) => {
    await refuses(Buffer.from(hostile.files[name] ?? '', 'base64'), message);
  });

  test('is refused if its list of tensors is too large', async () => {
    await refuses(zipOf({ 'data.pkl': Buffer.alloc(2 ** 24 + 1) }), /has 16777217 bytes/);
  });
});

test('a file with any byte changed is either read or refused', async () => {
  const whole = await readFile(path.join(fixtures, 'state.pth'));
  const place = fc.nat(whole.length - 1);
  await fc.assert(
    fc.asyncProperty(place, fc.nat(255), async (at, byte) => {
      await writeFile(written, whole.with(at, byte));
      const reading = (async () => {
        const opened = await TorchFile.open(written);
        for (const entry of opened.entries) await opened.readFloats(entry);
        await opened.close();
      })();
      const code = await reading.catch((error: unknown) => AgentRlError.is(error) && error.code);
      expect([undefined, 'MODEL_INVALID']).toContain(code);
    }),
    { numRuns: 300 },
  );
});

test('a file is refused if its table lies beyond the largest exact number', async () => {
  const changed = await readFile(path.join(fixtures, 'state.pth'));
  // The 64-bit place of the table's end, in the locator of 20 bytes before the last 22.
  const locator = changed.length - 42;
  expect(changed.readUInt32LE(locator)).toBe(0x07064b50);
  changed.writeBigUInt64LE(0x7fn << 56n, locator + 8);
  await refuses(changed, /points to byte 9151314442816848000, but the file has only 3697 bytes/);
});

/** Whole numbers of this many bytes, the lowest byte first. */
const numbers = (width: number, ...values: readonly number[]): Buffer =>
  Buffer.from(
    values.flatMap((value) => Array.from({ length: width }, (_, i) => (value / 256 ** i) & 255)),
  );

/** A zip of plainly stored entries, all in one folder, as torch.save writes it. */
function zipOf(entries: Readonly<Record<string, Uint8Array>>): Buffer {
  const [files, table]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const [name, data] of Object.entries(entries)) {
    const label = Buffer.from(`archive/${name}`);
    // From the version needed to the lengths of name and extra fields; the checksum is not looked at.
    const sizes = numbers(4, 0, 0, data.length, data.length);
    const common = Buffer.concat([numbers(2, 10, 0, 0), sizes, numbers(2, label.length, 0)]);
    const place = Buffer.concat([numbers(2, 0, 0, 0), numbers(4, 0, at)]);
    table.push(Buffer.from('PK\u0001\u0002\u0014\0'), common, place, label);
    files.push(Buffer.concat([Buffer.from('PK\u0003\u0004'), common, label, data]));
    at += files.at(-1)!.length;
  }
  const directory = Buffer.concat(table);
  const counts = numbers(2, 0, 0, files.length, files.length);
  const end = [Buffer.from('PK\u0005\u0006'), counts, numbers(4, directory.length, at, 0)];
  return Buffer.concat([...files, directory, Buffer.concat(end).subarray(0, 22)]);
}
