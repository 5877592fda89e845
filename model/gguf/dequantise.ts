import { widenBFloat16, widenFloat16 } from '../weights/half-precision.ts';

/** Weights of a block. */
const blockSize = 32;

/** How weights are stored: the bytes of a block and the weights in it. */
export interface StoredType {
  name: string;
  weights: number;
  bytes: number;
  /** Widens whole blocks into as many floats. */
  widen: (bytes: Uint8Array, into: Float32Array) => void;
}

/**
 * The storage types of ggml that are read, by their number in the file; see ggml-quants.c. In a block of 32 the low halves of its bytes are the
 * first 16 weights.
 */
export const storedTypes: ReadonlyMap<number, StoredType> = new Map([
  [0, { name: 'F32', weights: 1, bytes: 4, widen: widenF32 }],
  [1, { name: 'F16', weights: 1, bytes: 2, widen: halves(widenFloat16) }],
  [2, { name: 'Q4_0', weights: blockSize, bytes: 18, widen: widenQ40 }],
  [3, { name: 'Q4_1', weights: blockSize, bytes: 20, widen: widenQ41 }],
  [8, { name: 'Q8_0', weights: blockSize, bytes: 34, widen: widenQ80 }],
  [30, { name: 'BF16', weights: 1, bytes: 2, widen: halves(widenBFloat16) }],
]);

function widenF32(bytes: Uint8Array, into: Float32Array): void {
  new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
}

function halves(widen: (halves: Uint16Array, into: Float32Array) => void): StoredType['widen'] {
  return (bytes, into) => widen(new Uint16Array(Uint8Array.from(bytes).buffer), into);
}

/** float16 scale, 16 bytes of two: (q - 8) * scale. */
function widenQ40(bytes: Uint8Array, into: Float32Array): void {
  const scales = floatsOf(bytes, 18, 0);
  for (let block = 0; block < scales.length; block++) {
    const [from, to, scale] = [18 * block + 2, blockSize * block, scales[block]!];
    for (let i = 0; i < 16; i++) {
      const pair = bytes[from + i]!;
      into[to + i] = ((pair & 15) - 8) * scale;
      into[to + i + 16] = ((pair >>> 4) - 8) * scale;
    }
  }
}

/** float16 scale and minimum, 16 bytes of two: q * scale + minimum. */
function widenQ41(bytes: Uint8Array, into: Float32Array): void {
  const scales = floatsOf(bytes, 20, 0);
  const minima = floatsOf(bytes, 20, 2);
  for (let block = 0; block < scales.length; block++) {
    const [from, to] = [20 * block + 4, blockSize * block];
    const [scale, minimum] = [scales[block]!, minima[block]!];
    for (let i = 0; i < 16; i++) {
      const pair = bytes[from + i]!;
      into[to + i] = (pair & 15) * scale + minimum;
      into[to + i + 16] = (pair >>> 4) * scale + minimum;
    }
  }
}

/** float16 scale, 32 signed bytes: q * scale. */
function widenQ80(bytes: Uint8Array, into: Float32Array): void {
  const scales = floatsOf(bytes, 34, 0);
  const signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let block = 0; block < scales.length; block++) {
    const [from, to, scale] = [34 * block + 2, blockSize * block, scales[block]!];
    for (let i = 0; i < blockSize; i++) into[to + i] = signed[from + i]! * scale;
  }
}

/** The float16 at a place of each block. */
function floatsOf(bytes: Uint8Array, blockBytes: number, place: number): Float32Array {
  const count = bytes.length / blockBytes;
  const words = Uint16Array.from({ length: count }, (_, block) => {
    const at = blockBytes * block + place;
    return bytes[at]! | (bytes[at + 1]! << 8);
  });
  const floats = new Float32Array(count);
  widenFloat16(words, floats);
  return floats;
}
