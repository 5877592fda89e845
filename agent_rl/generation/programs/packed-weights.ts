import { bytesPerFloat, weightBytes } from '../../../model/adapters/weight-bytes.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';

/** Larger weights are given to each run: every program would hold a copy. */
const largestPacked = 640 * 2 ** 20;

/** Programs of a generator that hold weights at once: three of steps and one of chunks. */
const packedCopies = 4;

/** Whether weights that do not change may be compiled into programs, where ONNX Runtime packs them once and not for each product. */
export const isPackable = (config: ModelConfig, device: string): boolean =>
  device === 'cpu' && config.quantization === undefined && weightBytes(config) <= largestPacked;

/** What the programs of a generator hold of packed weights. An embedding that is the head too is held as both. */
export const packedBytes = (config: ModelConfig): number => {
  const { tiedEmbeddings, vocabSize, hiddenSize } = config;
  const head = tiedEmbeddings ? bytesPerFloat * vocabSize * hiddenSize : 0;
  return packedCopies * (weightBytes(config) + head);
};
