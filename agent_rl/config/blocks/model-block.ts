import { Type } from '../../core/typebox.ts';
import { adapterTargetNames } from '../../core/services/linear-module.ts';
import { above, block, choice, flag, integer, number, text, within } from './block.ts';

/** `model.lora:` an adapter that is trained instead of the model. */
const LoraBlock = Type.Object(
  {
    rank: integer('Rank of the two matrices', within(1, 65_536, 8)),
    alpha: number("The adapter's output is scaled by alpha / rank", above(0, 65_536, 16)),
    dropout: number("Fraction of the adapter's inputs dropped in training", {
      minimum: 0,
      exclusiveMaximum: 1,
      default: 0,
    }),
    targets: Type.Array(Type.Enum([...adapterTargetNames]), {
      default: ['all-linear'],
      minItems: 1,
      description: 'Layers with an adapter: a preset (attention, mlp, all-linear) or layer names',
    }),
    rankStabilised: flag('Scale by alpha / sqrt(rank) instead of alpha / rank (rsLoRA)', false),
  },
  {
    additionalProperties: false,
    description:
      'A new LoRA adapter over frozen weights; without this block the model itself is trained',
  },
);

export const ModelBlock = block(
  {
    path: text(
      'Model folder, or org/name of a model on the Hugging Face hub (except with policy type minimind)',
      { minLength: 1, default: 'model/starter' },
    ),
    revision: Type.Optional(
      text('Branch, tag or commit on the hub; main by default', {
        pattern: '^(?!.*\\.\\.)[\\w][\\w./-]*$',
      }),
    ),
    adapters: Type.Array(Type.String({ minLength: 1 }), {
      default: [],
      description:
        'Folders of PEFT adapters; if lora is not set, training continues the last adapter',
    }),
    quantize: choice(
      '4bit quantises linear layers on load; only adapters can then be trained',
      ['none', '4bit'],
      'none',
    ),
    quantizeBlockSize: integer(
      'Number of weights that share one scale when quantised. It must be a power of two and divide the input width of every linear layer',
      within(16, 65_536, 64),
    ),
    lora: Type.Optional(LoraBlock),
  },
  'The weights a run starts from',
);
