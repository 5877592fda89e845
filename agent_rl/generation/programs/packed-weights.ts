import { bytesPerFloat, weightBytes } from '../../../model/adapters/weight-bytes.ts';
import type { ModelConfig } from '../../../model/config/architecture.ts';

/** Programs of a generator that hold weights at once: three of steps and one of chunks. */
const packedCopies = 4;

/** The packed weights that the programs of a generator hold. An embedding that is the head too is held as both. */
export const packedBytes = (config: ModelConfig): number => {
  const { tiedEmbeddings, vocabSize, hiddenSize } = config;
  const head = tiedEmbeddings ? bytesPerFloat * vocabSize * hiddenSize : 0;
  return packedCopies * (weightBytes(config) + head);
};
