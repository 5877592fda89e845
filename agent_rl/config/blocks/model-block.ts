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
        description: 'Model folder, or a model of the hub as org/name, for policy type huggingface',
      }),
    ),
    revision: Type.Optional(
      Type.String({
        pattern: '^(?!.*\\.\\.)[\\w][\\w./-]*$',
        description: 'Branch, tag or commit of a model of the hub; main when absent',
      }),
    ),
  },
  'The weights a run starts from',
);
