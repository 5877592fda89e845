import type { Weights } from '../../model/config/parameters.ts';

/** A version of the weights in memory that threads share. */
export interface SharedWeights {
  weights: Weights;
  version: number;
}

/** A copy in memory that threads share: it is sent to all of them without being copied again. */
export function shareWeights(weights: Weights): Weights {
  const shared = new Map<string, Float32Array | Uint8Array>();
  for (const [name, data] of weights) {
    const memory = new SharedArrayBuffer(data.byteLength);
    const copy = data instanceof Uint8Array ? new Uint8Array(memory) : new Float32Array(memory);
    copy.set(data);
    shared.set(name, copy);
  }
  return shared;
}

/** A copy of shared weights for one thread, in memory of its own: ONNX Runtime takes no shared memory. */
export const ownWeights = (shared: Weights): Weights =>
  new Map([...shared].map(([name, data]) => [name, data.slice()]));
