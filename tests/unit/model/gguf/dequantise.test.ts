import { expect, test } from '@jest/globals';

import { storedTypes } from '#model/gguf/dequantise.ts';

const widened = (name: string, bytes: readonly number[], count: number): number[] => {
  const stored = [...storedTypes.values()].find((one) => one.name === name)!;
  const into = new Float32Array(count);
  // Not at the beginning of its buffer, as pieces of files are.
  stored.widen(Uint8Array.from([0, ...bytes]).subarray(1), into);
  return [...into];
};

/** 0.5 and -2 in float16. */
const half = [0x00, 0x38];
const minusTwo = [0x00, 0xc0];

/** Low halves 0, 1, … 15, high halves 15, 14, … 0. */
const pairs = Array.from({ length: 16 }, (_, i) => ((15 - i) << 4) | i);
const lows = Array.from({ length: 16 }, (_, i) => i);
const highs = lows.toReversed();

test('Q4_0 is half a byte minus 8, times a scale, with low halves first', () => {
  const expected = [...lows, ...highs].map((q) => (q - 8) * 0.5);
  expect(widened('Q4_0', [...half, ...pairs], 32)).toEqual(expected);
});

test('Q4_1 is half a byte times a scale, plus a minimum', () => {
  const expected = [...lows, ...highs].map((q) => q * 0.5 - 2);
  expect(widened('Q4_1', [...half, ...minusTwo, ...pairs], 32)).toEqual(expected);
});

test('Q8_0 is a signed byte times a scale, with one scale for 32 bytes', () => {
  const bytes = Array.from({ length: 32 }, (_, i) => (256 + i - 16) % 256);
  const block = Array.from({ length: 32 }, (_, i) => i - 16);
  expect(widened('Q8_0', [...half, ...bytes, ...minusTwo, ...bytes], 64)).toEqual([
    ...block.map((q) => q * 0.5),
    ...block.map((q) => q * -2),
  ]);
});

test('F16, BF16 and F32 keep their values', () => {
  expect(widened('F16', [...half, ...minusTwo], 2)).toEqual([0.5, -2]);
  expect(widened('BF16', [0x00, 0x3f, 0x00, 0xc0], 2)).toEqual([0.5, -2]);
  expect(widened('F32', [0, 0, 0, 0x3f, 0, 0, 0, 0xc0], 2)).toEqual([0.5, -2]);
});
