import { Type } from 'typebox';

import { adapterTargetNames } from '../../core/services/linear-module.ts';
import { block } from './block.ts';

/** `model.lora:` an adapter that is trained in place of the model. */
const LoraBlock = Type.Object(
  {
    rank: Type.Integer({ minimum: 1, default: 8, description: 'Rank of the two matrices' }),
    alpha: Type.Number({
      exclusiveMinimum: 0,
      default: 16,
      description: 'The output of the adapter is scaled by alpha / rank',
    }),
    dropout: Type.Number({
      minimum: 0,
      exclusiveMaximum: 1,
      default: 0,
      description: "Fraction of a layer's inputs hidden from the adapter in training",
    }),
    targets: Type.Array(Type.Enum([...adapterTargetNames]), {
      default: ['all-linear'],
      minItems: 1,
      description:
        'Linear layers with an adapter: a preset (attention, mlp, all-linear) or names of layers',
    }),
    rankStabilised: Type.Boolean({
      default: false,
      description: 'Scale by alpha / sqrt(rank) instead of alpha / rank (rsLoRA)',
    }),
  },
  {
    additionalProperties: false,
    description: 'A new adapter over frozen weights (LoRA); without the block there is none',
  },
);

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
        description:
          'Model folder, or a model on the Hugging Face hub as org/name; in place of path, not for policy type minimind',
      }),
    ),
    revision: Type.Optional(
      Type.String({
        pattern: '^(?!.*\\.\\.)[\\w][\\w./-]*$',
        description: 'Branch, tag or commit of a model on the hub; main by default',
      }),
    ),
    adapters: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'Folders of adapters for the model, in the layout of PEFT; without lora, training continues the last one',
    }),
    quantize: Type.Enum(['none', '4bit'], {
      default: 'none',
      description:
        '4bit holds the weights of linear layers in four bits, quantised while they are loaded; then only an adapter can be trained',
    }),
    quantizeBlockSize: Type.Integer({
      minimum: 16,
      default: 64,
      description:
        'Weights that share a scale with quantize: a power of two that divides the input width of every linear layer',
    }),
    lora: Type.Optional(LoraBlock),
  },
  'The weights a run starts from',
);
