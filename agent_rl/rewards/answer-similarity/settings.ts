import { type Static, Type } from 'typebox';

import { integer } from '../../config/blocks/block.ts';
import { DenseSettings } from '../../search/corpus/settings.ts';

const [, ...models] = DenseSettings.anyOf;

/** `rewards[]` of type `answer_similarity`. */
export const AnswerSimilaritySettings = Type.Object({
  embedder: Type.Union([Type.Object({ type: Type.Literal('words') }), ...models], {
    default: { type: 'words' },
    description:
      'What makes vectors of answers: a model as under `dense` of a corpus, or the words alone, which needs none',
  }),
  floor: Type.Union([Type.Literal('measured'), Type.Number({ minimum: -1, maximum: 0.999 })], {
    default: 'measured',
    description:
      'Similarity that counts as 0: that of random pairs of answers of the tasks, or a number',
  }),
  pairs: integer('Random pairs of answers that a measured floor is the mean of', {
    minimum: 8,
    maximum: 4096,
    default: 64,
  }),
});
export type AnswerSimilaritySettings = Static<typeof AnswerSimilaritySettings>;
