import { Type } from 'typebox';

import { block } from './block.ts';

/** `model:` the weights a run starts from. */
export const ModelBlock = block(
  {
    path: Type.String({
      minLength: 1,
      default: 'model/starter',
      description: 'Hugging Face model folder: config, tokenizer and weights',
    }),
    hfModelName: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Name of a model on the hub, for policy type huggingface',
      }),
    ),
  },
  'The weights a run starts from',
);
