import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import {
  fromBFloat16,
  fromFloat16,
  narrowBFloat16,
  narrowFloat16,
  toBFloat16,
  toFloat16,
  widenBFloat16,
  widenFloat16,
} from '#model/weights/half-precision.ts';

test.each([
  [1, 0x3c00],
  [-2, 0xc000],
  [65504, 0x7bff],
  [2 ** -14, 0x0400],
  [2 ** -24, 0x0001],
  [0, 0x0000],
  [Infinity, 0x7c00],
])('%d is %d as float16', (value, half) => {
  expect(toFloat16(value)).toBe(half);
  expect(fromFloat16(half)).toBe(value);
});

test('float16 rounds to nearest, ties to even', () => {
  // Between 1 and 2 the spacing is 2^-10; half a step above 1 goes down to even, above 1 + 2^-10 up.
  expect(toFloat16(1 + 2 ** -11)).toBe(0x3c00);
  expect(toFloat16(1 + 3 * 2 ** -11)).toBe(0x3c02);
  expect(toFloat16(1 + 2 ** -11 + 2 ** -20)).toBe(0x3c01);
  // The largest fraction carries into the exponent.
  expect(toFloat16(2 - 2 ** -12)).toBe(0x4000);
  expect(toFloat16(65520)).toBe(0x7c00);
});

test('bfloat16 rounds to nearest, ties to even', () => {
  expect(toBFloat16(1)).toBe(0x3f80);
  expect(toBFloat16(1 + 2 ** -8)).toBe(0x3f80);
  expect(toBFloat16(1 + 3 * 2 ** -8)).toBe(0x3f82);
  expect(toBFloat16(-1 - 2 ** -8 - 2 ** -20)).toBe(0xbf81);
});

test('every 16-bit pattern that is a number survives the way there and back', () => {
  for (let half = 0; half < 0x10000; half++) {
    const [wide, brain] = [fromFloat16(half), fromBFloat16(half)];
    if (!Number.isNaN(wide) && toFloat16(wide) !== half) throw new Error(`float16 ${half}`);
    if (!Number.isNaN(brain) && toBFloat16(brain) !== half) throw new Error(`bfloat16 ${half}`);
  }
});

test('not-a-numbers stay so', () => {
  expect([fromFloat16(toFloat16(NaN)), fromBFloat16(toBFloat16(NaN))]).toEqual([NaN, NaN]);
});

test('rounding never moves a value further than half a step', () => {
  fc.assert(
    fc.property(fc.float({ min: -60000, max: 60000, noNaN: true }), (value) => {
      const step = Math.max(2 ** -24, 2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) - 10));
      expect(Math.abs(fromFloat16(toFloat16(value)) - value)).toBeLessThanOrEqual(step / 2);
      expect(Math.abs(fromBFloat16(toBFloat16(value)) - value)).toBeLessThanOrEqual(
        Math.abs(value) / 256 + 2 ** -133,
      );
    }),
  );
});

test('in bulk every 16-bit pattern gives what it gives alone', () => {
  const halves = Uint16Array.from({ length: 0x10000 }, (_, half) => half);
  const [wide, brain] = [new Float32Array(0x10000), new Float32Array(0x10000)];
  widenFloat16(halves, wide);
  widenBFloat16(halves, brain);
  for (const half of halves) {
    if (!Object.is(wide[half], fromFloat16(half))) throw new Error(`float16 ${half}`);
    if (!Object.is(brain[half], fromBFloat16(half))) throw new Error(`bfloat16 ${half}`);
  }
});

test('in bulk values are narrowed as they are alone', () => {
  fc.assert(
    fc.property(fc.float32Array(), (values) => {
      expect([...narrowBFloat16(values)]).toEqual([...values].map(toBFloat16));
      expect([...narrowFloat16(values)]).toEqual([...values].map(toFloat16));
    }),
  );
});
