/** Conversions between float32 and the two 16-bit formats weights are stored in; to nearest, ties to even. */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

function floatOf(word: number): number {
  bits[0] = word;
  return float[0]!;
}

/** bfloat16 is the upper half of a float32: widens every half, into as many places. */
export function widenBFloat16(halves: Uint16Array, into: Float32Array): void {
  const words = new Uint32Array(into.buffer, into.byteOffset, into.length);
  for (let i = 0; i < halves.length; i++) words[i] = halves[i]! << 16;
}

export function narrowBFloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    halves[i] =
      // Rounding could carry a NaN's payload away and leave an infinity.
      (word & 0x7fffffff) > 0x7f800000
        ? (word >>> 16) | 0x40
        : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  }
  return halves;
}

/** IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
function fromFloat16(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return (sign === 0 ? fraction : -fraction) * 2 ** -24;
  // The exponent's bias goes from 15 to 127; infinity and NaN keep an exponent of all ones.
  const widened = exponent === 0x1f ? 0xff : exponent + 112;
  return floatOf(sign | (widened << 23) | (fraction << 13));
}

let everyFloat16: Uint32Array | undefined;

/** Widens every half, into as many places. */
export function widenFloat16(halves: Uint16Array, into: Float32Array): void {
  if (everyFloat16 === undefined) {
    const all = Float32Array.from({ length: 0x10000 }, (_, half) => fromFloat16(half));
    everyFloat16 = new Uint32Array(all.buffer);
  }
  const words = new Uint32Array(into.buffer, into.byteOffset, into.length);
  for (let i = 0; i < halves.length; i++) words[i] = everyFloat16[halves[i]!]!;
}

/** Values beyond 65,504 become infinite, as in every other converter: compare with `largestFloat16` first. */
export function narrowFloat16(values: Float32Array): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < words.length; i++) halves[i] = float16Of(words[i]!);
  return halves;
}

function float16Of(word: number): number {
  const sign = (word >>> 16) & 0x8000;
  const size = word & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00;
  // From 65,520 on, half a step beyond the largest.
  if (size >= 0x477ff000) return sign | 0x7c00;
  // Below 2^-14 the spacing is fixed. A sum with 2^52 has no place for a fraction: it is rounded to nearest, ties to even.
  if (size < 0x38800000) return sign | (floatOf(size) * 2 ** 24 + 2 ** 52 - 2 ** 52);
  const biased = size - (112 << 23);
  // A fraction that overflows carries into the exponent by plain addition.
  return sign | ((biased + 0xfff + ((biased >>> 13) & 1)) >>> 13);
}

export const largestFloat16 = 65504;
