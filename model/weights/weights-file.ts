import type { TensorEntry } from './safetensors-header.ts';

/** An open file of tensors whose table of contents was read and checked; the values were not. */
export interface WeightsFile {
  path: string;
  entries: readonly TensorEntry[];
  /** A tensor's values: floats widened to float32, bytes as they are. */
  read(entry: TensorEntry): Promise<Float32Array | Uint8Array>;
  /** A tensor of weights. @throws AgentRlError `MODEL_INVALID` when it holds bytes. */
  readFloats(entry: TensorEntry): Promise<Float32Array>;
  close(): Promise<void>;
}
