import { expect, test } from '@jest/globals';

import * as halves from '#model/weights/half-precision.ts';
import * as fc from '#tests/support/properties.ts';

const { narrowBFloat16, narrowFloat16, widenBFloat16, widenFloat16 } = halves;
const widened = (widen: typeof widenFloat16, from: Uint16Array): Float32Array => {
  const values = new Float32Array(from.length);
  widen(from, values);
  return values;
};
const toFloat16 = (value: number) => narrowFloat16(Float32Array.of(value))[0]!;
const toBFloat16 = (value: number) => narrowBFloat16(Float32Array.of(value))[0]!;
const fromFloat16 = (half: number) => widened(widenFloat16, Uint16Array.of(half))[0]!;
const fromBFloat16 = (half: number) => widened(widenBFloat16, Uint16Array.of(half))[0]!;

const every = Uint16Array.from({ length: 0x10000 }, (_, half) => half);

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

test('every 16-bit pattern survives the round trip, NaN as NaN', () => {
  const [wide, brain] = [widened(widenFloat16, every), widened(widenBFloat16, every)];
  expect([fromFloat16(toFloat16(NaN)), fromBFloat16(toBFloat16(NaN))]).toEqual([NaN, NaN]);
  const [narrow, narrowBrain] = [narrowFloat16(wide), narrowBFloat16(brain)];
  for (const half of every) {
    if (!Number.isNaN(wide[half]) && narrow[half] !== half) throw new Error(`float16 ${half}`);
    if (!Number.isNaN(brain[half]) && narrowBrain[half] !== half)
      throw new Error(`bfloat16 ${half}`);
  }
});

test('rounding never moves a value further than half a step', () => {
  fc.assert(
    fc.property(fc.float({ min: -60000, max: 60000, noNaN: true }), (value) => {
      const step = Math.max(2 ** -24, 2 ** (Math.floor(Math.log2(Math.abs(value) || 1)) - 10));
      expect(Math.abs(fromFloat16(toFloat16(value)) - value)).toBeLessThanOrEqual(step / 2);
      const gap = Math.abs(fromBFloat16(toBFloat16(value)) - value);
      expect(gap).toBeLessThanOrEqual(Math.abs(value) / 256 + 2 ** -133);
    }),
  );
});

test('every float16 becomes the number that its bits stand for', () => {
  const wide = widened(widenFloat16, every);
  for (const half of every) {
    const [exponent, fraction] = [(half >>> 10) & 0x1f, half & 0x3ff];
    const size =
      exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
    const special = fraction === 0 ? Infinity : NaN;
    const expected = (half < 0x8000 ? 1 : -1) * (exponent === 0x1f ? special : size);
    if (!Object.is(wide[half], expected)) throw new Error(`float16 ${half}`);
  }
});

test('every bfloat16 is the upper half of a float32', () => {
  const words = new Uint32Array(widened(widenBFloat16, every).buffer);
  expect(words).toEqual(Uint32Array.from(every, (half) => half * 0x10000));
});

test('values are narrowed together as they are alone', () => {
  fc.assert(
    fc.property(fc.float32Array(), (values) => {
      expect([...narrowBFloat16(values)]).toEqual([...values].map(toBFloat16));
      expect([...narrowFloat16(values)]).toEqual([...values].map(toFloat16));
    }),
  );
});
