import type { TensorData } from './engine.ts';

const bytesOf = ({ buffer, byteOffset, byteLength }: TensorData): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Whether two arrays have the same bytes. Weights are large: the same memory is not read. */
export const sameData = (a: TensorData, b: TensorData): boolean =>
  a.byteLength === b.byteLength &&
  ((a.buffer === b.buffer && a.byteOffset === b.byteOffset) ||
    Buffer.compare(bytesOf(a), bytesOf(b)) === 0);
