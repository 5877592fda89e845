/** Conversions between float32 and the two 16-bit formats weights are stored in; to nearest, ties to even. */

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

function bitsOf(value: number): number {
  float[0] = value;
  return bits[0]!;
}

function floatOf(word: number): number {
  bits[0] = word;
  return float[0]!;
}

/** bfloat16 is the upper half of a float32. */
export function fromBFloat16(half: number): number {
  return floatOf(half << 16);
}

export function toBFloat16(value: number): number {
  const word = bitsOf(value);
  // Rounding could carry a NaN's payload away and leave an infinity.
  if (Number.isNaN(value)) return (word >>> 16) | 0x40;
  return ((word + 0x7fff + ((word >>> 16) & 1)) >>> 16) & 0xffff;
}

/** IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
export function fromFloat16(half: number): number {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return (sign === 0 ? fraction : -fraction) * 2 ** -24;
  // The exponent's bias goes from 15 to 127; infinity and NaN keep an exponent of all ones.
  const widened = exponent === 0x1f ? 0xff : exponent + 112;
  return floatOf(sign | (widened << 23) | (fraction << 13));
}

/** Values beyond 65,504 become infinite, as in every other converter: compare with `largestFloat16` first. */
export function toFloat16(value: number): number {
  const word = bitsOf(value);
  const sign = (word >>> 16) & 0x8000;
  if (Number.isNaN(value)) return sign | 0x7e00;
  const size = Math.abs(floatOf(word));
  if (size >= 65520) return sign | 0x7c00;
  // Below 2^-14 the spacing is fixed; above it is 2^-10 of the power of two below the value.
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const steps = roundHalfToEven(size / 2 ** (exponent - 10));
  // Steps run 1024 to 2047 in a binade; 2048 carries into the next by plain addition.
  return sign | (size === 0 ? 0 : ((exponent + 14) << 10) + steps);
}

export const largestFloat16 = 65504;

function roundHalfToEven(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  if (rest !== 0.5) return rest < 0.5 ? down : down + 1;
  return down % 2 === 0 ? down : down + 1;
}
