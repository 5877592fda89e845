import { Type } from 'typebox';

import { block } from './block.ts';

const ParityBlock = block(
  {
    max: Type.Number({
      exclusiveMinimum: 0,
      default: 1e-3,
      unit: 'nats',
      description: 'Largest |log p(rollout) - log p(train)| of a token',
    }),
    mean: Type.Number({
      exclusiveMinimum: 0,
      default: 1e-4,
      unit: 'nats',
      description: 'Largest mean of it over the tokens of an iteration',
    }),
  },
  'The run stops when generator and learner disagree by more than this',
);

const moment = (value: number, description: string) =>
  Type.Number({ minimum: 0, exclusiveMaximum: 1, default: value, description });

/** `train:` the optimiser and the length of the run. */
export const TrainBlock = block(
  {
    mode: Type.Enum(['rl', 'sft'], {
      default: 'rl',
      description:
        'rl collects episodes and learns from their rewards; sft imitates the demonstrations of the dataset',
    }),
    iterations: Type.Integer({
      minimum: 1,
      default: 40,
      unit: 'iterations',
      description:
        'Iterations of the whole run: in rl each collects episodes and trains on them, in sft each is an optimiser step',
    }),
    maxIterations: Type.Optional(
      Type.Integer({
        minimum: 1,
        unit: 'iterations',
        description:
          'End the run after this many iterations, as the beginning of the run of `iterations`; more than those make the run longer',
      }),
    ),
    batchSize: Type.Integer({
      minimum: 1,
      default: 32,
      unit: 'sequences',
      description:
        'sft: demonstrations in an optimiser step. rl takes tasksPerStep x groupSize episodes',
    }),
    contextWeight: Type.Number({
      minimum: 0,
      default: 0,
      description:
        'sft: weight of prompts and tool results in the loss, where what the assistant writes has 1; 0 leaves them out',
    }),
    learningRate: Type.Number({
      exclusiveMinimum: 0,
      default: 3e-4,
      description: 'Peak learning rate of AdamW',
    }),
    warmupSteps: Type.Integer({
      minimum: 0,
      default: 0,
      unit: 'steps',
      description: 'Optimiser steps in which the learning rate rises from 0',
    }),
    schedule: Type.Enum(['cosine', 'constant'], {
      default: 'constant',
      description: 'After the warm-up: a half cosine down to finalRatio of the peak, or constant',
    }),
    finalRatio: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.1,
      description: 'Where the cosine ends, as a fraction of the peak',
    }),
    beta1: moment(0.9, 'Decay of the running mean of gradients'),
    beta2: moment(0.95, 'Decay of the running mean of squared gradients'),
    eps: Type.Number({ exclusiveMinimum: 0, default: 1e-8, description: 'Epsilon of AdamW' }),
    weightDecay: Type.Number({
      minimum: 0,
      default: 0,
      description: 'Decoupled weight decay of AdamW',
    }),
    maxGradNorm: Type.Number({
      minimum: 0,
      default: 1,
      description: 'Global norm to which gradients are clipped; 0 is off',
    }),
    control: Type.Enum(['none', 'shuffled-rewards'], {
      default: 'none',
      description:
        'shuffled-rewards shuffles the rewards of an iteration among its episodes, so that nothing can be learned: a control',
    }),
    recompute: Type.Enum(['none', 'blocks'], {
      default: 'none',
      description:
        'blocks keeps one hidden state for each layer and recomputes the layer in the backward pass: less memory, more time',
    }),
    parityBound: ParityBlock,
  },
  'The optimiser and the length of the run',
);
