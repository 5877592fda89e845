import { bytesPerFloat, weightBytes } from '../../../model/adapters/weight-bytes.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';

/** The packed weights that a generator's program of steps holds. An embedding that is the head too is held as both. */
export const packedBytes = (config: ModelConfig): number => {
  const { tiedEmbeddings, vocabSize, hiddenSize } = config;
  const head = tiedEmbeddings ? bytesPerFloat * vocabSize * hiddenSize : 0;
  return weightBytes(config) + head;
};
