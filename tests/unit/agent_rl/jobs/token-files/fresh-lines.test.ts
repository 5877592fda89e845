import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';

import { float32Numbers } from '#agent_rl/jobs/token-files/float32-numbers.ts';
import { FreshLines } from '#agent_rl/jobs/token-files/fresh-lines.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();

describe('FreshLines', () => {
  afterEach(() => {
    delete process.env['SOME_TOKEN'];
  });

  test('appear under their name when they are whole', () => {
    const file = join(folder, 'new', 'lines.jsonl');
    const lines = new FreshLines(file);
    lines.write({ a: 1 });
    lines.write({ b: [null, 0.5] });
    expect(existsSync(file)).toBe(false);
    lines.commit();
    lines.discard();
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"b":[null,0.5]}\n');
    expect(readdirSync(join(folder, 'new'))).toEqual(['lines.jsonl']);
  });

  test('leave nothing behind when they are discarded', () => {
    const lines = new FreshLines(join(folder, 'gone', 'lines.jsonl'));
    lines.write({ a: 1 });
    lines.discard();
    expect(readdirSync(join(folder, 'gone'))).toEqual([]);
  });

  test('never take the place of a file, also of one that came meanwhile', () => {
    const there = writeBelow(folder, 'there.jsonl', 'mine');
    expect(thrownBy(() => new FreshLines(there)).message).toContain(
      `${there} exists, and nothing is written over.`,
    );
    const late = join(folder, 'late.jsonl');
    const lines = new FreshLines(late);
    writeFileSync(late, 'mine');
    expect(thrownBy(() => lines.commit()).code).toBe('OUTPUT_UNWRITABLE');
    lines.discard();
    expect([readFileSync(there, 'utf8'), readFileSync(late, 'utf8')]).toEqual(['mine', 'mine']);
  });

  test('that cannot be written say so with the remedy of their commands', () => {
    const below = join(writeBelow(folder, 'a-file', ''), 'lines.jsonl');
    const error = thrownBy(() => new FreshLines(below));
    expect(error.code).toBe('OUTPUT_UNWRITABLE');
    expect(error.message).toMatch(/^Cannot write .*a-file\/lines\.jsonl: .*--output\.$/);
  });

  test("keep the user's own data, also where it looks like a secret", () => {
    process.env['SOME_TOKEN'] = 'question-17';
    const file = join(folder, 'names.jsonl');
    const lines = new FreshLines(file);
    lines.write({ id: 'question-17' });
    lines.commit();
    expect(readFileSync(file, 'utf8')).toBe('{"id":"question-17"}\n');
  });
});

describe('float32Numbers', () => {
  test('are written shortly and read back as the same float32 values', () => {
    const random = new KeyedRng(1, 'floats');
    const bits = Uint32Array.from({ length: 20_000 }, () => random.uniform() * 2 ** 32);
    const values = new Float32Array(bits.buffer).filter((value) => Number.isFinite(value));
    expect(values.length).toBeGreaterThan(19_000);
    const text = JSON.stringify(float32Numbers(values, 'values'));
    expect(Float32Array.from(JSON.parse(text) as number[])).toEqual(values);
    expect(JSON.stringify(float32Numbers([Math.fround(-0.1)], 'value'))).toBe('[-0.100000001]');
  });

  test.each([NaN, -Infinity])('are never %d, which JSON cannot hold', (value) => {
    const error = thrownBy(() => float32Numbers([-1, value], 'in.jsonl:3'));
    expect(error.code).toBe('ENGINE_FAILED');
    expect(error.message).toContain(`in.jsonl:3: log-probability 1 is ${value}.`);
  });
});
