import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { float32Numbers } from '#agent_rl/jobs/token-files/float32-numbers.ts';
import { writingFresh } from '#agent_rl/jobs/token-files/fresh-lines.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

describe('A new file of lines', () => {
  test('appears under its name when it is whole', async () => {
    const file = join(folder, 'new', 'lines.jsonl');
    const result = await writingFresh(file, async (write) => {
      write({ a: 1 });
      write({ b: [null, 0.5] });
      expect(existsSync(file)).toBe(false);
      return 'done';
    });
    expect(result).toBe('done');
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"b":[null,0.5]}\n');
    expect(readdirSync(join(folder, 'new'))).toEqual(['lines.jsonl']);
  });

  test('is not there, nor part of it, when what writes it fails', async () => {
    const writing = writingFresh(join(folder, 'gone', 'lines.jsonl'), async (write) => {
      write({ a: 1 });
      throw new Error('no more');
    });
    await expect(writing).rejects.toThrow('no more');
    expect(readdirSync(join(folder, 'gone'))).toEqual([]);
  });

  test('never takes the place of a file, also of one that came meanwhile', async () => {
    const there = writeBelow(folder, 'there.jsonl', 'mine');
    expect(await rejectionOf(writingFresh(there, async () => undefined))).toMatchObject(
      errorOf('OUTPUT_UNWRITABLE', `${there} already exists and is not overwritten.`),
    );
    const late = join(folder, 'late.jsonl');
    const writing = writingFresh(late, async () => writeFileSync(late, 'mine'));
    expect(await rejectionOf(writing)).toMatchObject({ code: 'OUTPUT_UNWRITABLE' });
    expect([readFileSync(there, 'utf8'), readFileSync(late, 'utf8')]).toEqual(['mine', 'mine']);
  });

  test('is refused with a remedy where it cannot be written', async () => {
    const below = join(writeBelow(folder, 'a-file', ''), 'lines.jsonl');
    expect(await rejectionOf(writingFresh(below, async () => undefined))).toMatchObject(
      errorOf('OUTPUT_UNWRITABLE', /^Cannot write .*a-file\/lines\.jsonl: .*--output\.$/),
    );
  });

  test("keeps the user's data, also where it looks like a secret", async () => {
    process.env['SOME_TOKEN'] = 'question-17';
    const file = join(folder, 'names.jsonl');
    await writingFresh(file, async (write) => write({ id: 'question-17' }));
    delete process.env['SOME_TOKEN'];
    expect(readFileSync(file, 'utf8')).toBe('{"id":"question-17"}\n');
  });
});

describe('float32Numbers', () => {
  test('writes short numbers that read back as the same float32 values', () => {
    const random = new KeyedRng(1, 'floats');
    const bits = Uint32Array.from({ length: 20_000 }, () => random.uniform() * 2 ** 32);
    const values = new Float32Array(bits.buffer).filter((value) => Number.isFinite(value));
    expect(values.length).toBeGreaterThan(19_000);
    const text = JSON.stringify(float32Numbers(values, 'values'));
    expect(Float32Array.from(JSON.parse(text) as number[])).toEqual(values);
    expect(JSON.stringify(float32Numbers([Math.fround(-0.1)], 'value'))).toBe('[-0.100000001]');
  });

  test.each([NaN, -Infinity])('refuses %d, which JSON cannot hold', (value) => {
    expect(thrownBy(() => float32Numbers([-1, value], 'in.jsonl:3'))).toMatchObject(
      errorOf('ENGINE_FAILED', `in.jsonl:3: log-probability 1 is ${value}.`),
    );
  });
});
