import { Type } from 'typebox';

import { adapterTargetNames } from '../../core/services/linear-module.ts';
import { block } from './block.ts';

/** `model.lora:` an adapter that is trained instead of the model. */
const LoraBlock = Type.Object(
  {
    rank: Type.Integer({ minimum: 1, default: 8, description: 'Rank of the two matrices' }),
    alpha: Type.Number({
      exclusiveMinimum: 0,
      default: 16,
      description: 'What the adapter adds is scaled by alpha / rank',
    }),
    dropout: Type.Number({
      minimum: 0,
      exclusiveMaximum: 1,
      default: 0,
      description: "Share of a layer's inputs the adapter does not see in training",
    }),
    targets: Type.Array(Type.Enum([...adapterTargetNames]), {
      default: ['all-linear'],
      minItems: 1,
      description:
        'Linear layers that get one: a preset (attention, mlp, all-linear) or their names',
    }),
    rankStabilised: Type.Boolean({
      default: false,
      description: 'Scale by alpha / sqrt(rank) instead',
    }),
  },
  { additionalProperties: false, description: 'An adapter over frozen weights (LoRA); no default' },
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
        description: 'Model folder, or a model of the hub as org/name, for policy type huggingface',
      }),
    ),
    revision: Type.Optional(
      Type.String({
        pattern: '^(?!.*\\.\\.)[\\w][\\w./-]*$',
        description: 'Branch, tag or commit of a model of the hub; main when absent',
      }),
    ),
    adapters: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'Folders of adapters over the model, in the layout of PEFT; without lora the last is trained on',
    }),
    quantize: Type.Enum(['none', '4bit'], {
      default: 'none',
      description:
        'Hold the weights of linear layers in four bits, quantised while they are loaded; only an adapter can be trained then',
    }),
    quantizeBlockSize: Type.Integer({
      minimum: 16,
      default: 64,
      description:
        'Weights that share a scale: a power of two that divides the inputs of every linear layer',
    }),
    lora: Type.Optional(LoraBlock),
  },
  'The weights a run starts from',
);
