import { Type } from 'typebox';

import { adapterTargetNames } from '../../core/services/linear-module.ts';
import { above, block, choice, flag, integer, number, text, within } from './block.ts';

/** `model.lora:` an adapter that is trained in place of the model. */
const LoraBlock = Type.Object(
  {
    rank: integer('Rank of the two matrices', within(1, 65_536, 8)),
    alpha: number('The output of the adapter is scaled by alpha / rank', above(0, 65_536, 16)),
    dropout: number("Fraction of a layer's inputs hidden from the adapter in training", {
      minimum: 0,
      exclusiveMaximum: 1,
      default: 0,
    }),
    targets: Type.Array(Type.Enum([...adapterTargetNames]), {
      default: ['all-linear'],
      minItems: 1,
      description:
        'Linear layers with an adapter: a preset (attention, mlp, all-linear) or names of layers',
    }),
    rankStabilised: flag('Scale by alpha / sqrt(rank) instead of alpha / rank (rsLoRA)', false),
  },
  {
    additionalProperties: false,
    description: 'A new adapter over frozen weights (LoRA); without the block there is none',
  },
);

export const ModelBlock = block(
  {
    path: text(
      'Model folder: config, tokenizer and weights; or a model on the Hugging Face hub as org/name, not for policy type minimind',
      { minLength: 1, default: 'model/starter' },
    ),
    revision: Type.Optional(
      text('Branch, tag or commit of a model on the hub; main by default', {
        pattern: '^(?!.*\\.\\.)[\\w][\\w./-]*$',
      }),
    ),
    adapters: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'Folders of adapters for the model, in the layout of PEFT; without lora, training continues the last one',
    }),
    quantize: choice(
      '4bit holds the weights of linear layers in four bits, quantised while they are loaded; then only an adapter can be trained',
      ['none', '4bit'],
      'none',
    ),
    quantizeBlockSize: integer(
      'Weights that share a scale with quantize: a power of two that divides the input width of every linear layer',
      within(16, 65_536, 64),
    ),
    lora: Type.Optional(LoraBlock),
  },
  'The weights a run starts from',
);
