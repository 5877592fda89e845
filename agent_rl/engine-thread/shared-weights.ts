import type { Weights } from '../../model/config/parameters.ts';

/** A version of the weights in memory that threads share. */
export interface SharedWeights {
  weights: Weights;
  version: number;
}

const copied = (
  weights: Weights,
  memory: (bytes: number) => ArrayBuffer | SharedArrayBuffer,
): Weights => {
  const copies = new Map<string, Float32Array | Uint8Array>();
  for (const [name, data] of weights) {
    const bytes = memory(data.byteLength);
    const copy = data instanceof Uint8Array ? new Uint8Array(bytes) : new Float32Array(bytes);
    copy.set(data);
    copies.set(name, copy);
  }
  return copies;
};

/** A copy in memory that threads share: it is sent to all of them without being copied again. */
export const shareWeights = (weights: Weights): Weights =>
  copied(weights, (bytes) => new SharedArrayBuffer(bytes));

/** A copy of shared weights for one thread: ONNX Runtime takes no shared memory. */
export const ownWeights = (shared: Weights): Weights =>
  copied(shared, (bytes) => new ArrayBuffer(bytes));
