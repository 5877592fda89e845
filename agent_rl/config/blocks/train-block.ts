import { Type } from 'typebox';

import { block } from './block.ts';

const ParityBlock = block(
  {
    max: Type.Number({
      exclusiveMinimum: 0,
      default: 1e-3,
      unit: 'nats',
      description: 'Largest |log p(rollout) - log p(train)| of one token',
    }),
    mean: Type.Number({
      exclusiveMinimum: 0,
      default: 1e-4,
      unit: 'nats',
      description: 'Largest mean over the tokens of one step',
    }),
  },
  'The run stops when generator and learner disagree by more',
);

const moment = (value: number, description: string) =>
  Type.Number({ minimum: 0, exclusiveMaximum: 1, default: value, description });

/** `train:` the optimiser and how long it runs. */
export const TrainBlock = block(
  {
    mode: Type.Enum(['rl', 'sft'], {
      default: 'rl',
      description: 'rl samples and scores; sft imitates the demonstrations of the dataset',
    }),
    iterations: Type.Integer({
      minimum: 1,
      default: 40,
      unit: 'iterations',
      description: 'Collections in rl, optimiser steps in sft',
    }),
    maxIterations: Type.Optional(
      Type.Integer({
        minimum: 1,
        unit: 'iterations',
        description:
          'Ends the run after so many of its iterations: the beginning of the longer run. More than iterations make it longer',
      }),
    ),
    batchSize: Type.Integer({
      minimum: 1,
      default: 32,
      unit: 'sequences',
      description: 'Demonstrations per optimiser step in sft; rl takes tasksPerStep x groupSize',
    }),
    contextWeight: Type.Number({
      minimum: 0,
      default: 0,
      description:
        'In sft: what prompts and observations weigh in the loss beside the words of the assistant; 0 leaves them out',
    }),
    learningRate: Type.Number({ exclusiveMinimum: 0, default: 3e-4, description: 'Peak, AdamW' }),
    warmupSteps: Type.Integer({
      minimum: 0,
      default: 0,
      unit: 'steps',
      description: 'Optimiser steps over which the learning rate rises from 0',
    }),
    schedule: Type.Enum(['cosine', 'constant'], {
      default: 'constant',
      description: 'After warm-up: down to finalRatio of the peak as a half cosine, or flat',
    }),
    finalRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.1,
      description: 'Where the cosine ends, as a share of the peak',
    }),
    beta1: moment(0.9, 'Decay of the mean of gradients'),
    beta2: moment(0.95, 'Decay of the mean of squared gradients'),
    eps: Type.Number({ exclusiveMinimum: 0, default: 1e-8, description: "AdamW's epsilon" }),
    weightDecay: Type.Number({ minimum: 0, default: 0, description: 'Decoupled, AdamW' }),
    maxGradNorm: Type.Number({
      minimum: 0,
      default: 1,
      description: 'Global norm that gradients are clipped to; 0 is off',
    }),
    control: Type.Enum(['none', 'shuffled-rewards'], {
      default: 'none',
      description:
        'shuffled-rewards deals the rewards of an iteration out at random among its episodes: nothing can be learned from them',
    }),
    recompute: Type.Enum(['none', 'blocks'], {
      default: 'none',
      description:
        'blocks keeps one hidden state of each layer and computes the layer again going back: less memory, more time',
    }),
    parityBound: ParityBlock,
  },
  'The optimiser and how long it runs',
);
