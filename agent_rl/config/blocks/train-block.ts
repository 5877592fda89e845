import { Type } from 'typebox';

import { above, block, choice, flag, integer, most, number, text, within } from './block.ts';

const ParityBlock = block(
  {
    max: number('Largest |log p(rollout) - log p(train)| of a token', above(0, 10, 1e-3, 'nats')),
    mean: number('Largest mean of it over the tokens of an iteration', above(0, 1, 1e-4, 'nats')),
  },
  'The run stops when generator and learner disagree by more than this',
);

const moment = (value: number, description: string) =>
  number(description, { minimum: 0, exclusiveMaximum: 1, default: value });

/** `train.until:` a measured success that ends supervised training before its last step. */
const UntilBlock = Type.Object(
  {
    success: number(
      'Share of solved attempts in an evaluation (eval.every) that ends the training',
      above(0, 1),
    ),
  },
  {
    additionalProperties: false,
    description:
      'sft: ends the training once an evaluation reaches this; iterations is then the most steps. Later steps would only imitate more',
  },
);

export const TrainBlock = block(
  {
    mode: choice(
      'rl collects episodes and learns from their rewards; sft imitates the demonstrations of the dataset',
      ['rl', 'sft'],
      'rl',
    ),
    iterations: integer(
      'Iterations of the whole run: in rl each collects episodes and trains on them, in sft each is an optimiser step',
      within(1, most.iterations, 40, 'iterations'),
    ),
    maxIterations: Type.Optional(
      integer(
        'End the run after this many iterations, as the beginning of the run of `iterations`; more than those make the run longer',
        { minimum: 1, maximum: most.iterations, unit: 'iterations' },
      ),
    ),
    until: Type.Optional(UntilBlock),
    batchSize: integer(
      'sft: demonstrations in an optimiser step. rl takes tasksPerStep x groupSize episodes',
      within(1, most.count, 32, 'sequences'),
    ),
    contextWeight: number(
      'sft: weight of prompts and tool results in the loss, where what the assistant writes has 1; 0 leaves them out',
      within(0, 100, 0),
    ),
    learningRate: number('Peak learning rate of AdamW', above(0, 1, 3e-4)),
    warmupSteps: integer(
      'Optimiser steps in which the learning rate rises from 0',
      within(0, most.iterations, 0, 'steps'),
    ),
    schedule: choice(
      'After the warm-up: a half cosine down to finalRatio of the peak, or constant',
      ['cosine', 'constant'],
      'constant',
    ),
    finalRatio: number('Where the cosine ends, as a fraction of the peak', within(0, 1, 0.1)),
    beta1: moment(0.9, 'Decay of the running mean of gradients'),
    beta2: moment(0.95, 'Decay of the running mean of squared gradients'),
    eps: number('Epsilon of AdamW', above(0, 1, 1e-8)),
    weightDecay: number(
      'Decoupled weight decay of AdamW; norms and biases do not decay',
      within(0, 10, 0),
    ),
    maxGradNorm: number('Global norm to which gradients are clipped; 0 is off', within(0, 1e6, 1)),
    control: choice(
      'Gives episodes the rewards of others, so that nothing can be learned: shuffled-rewards those of the whole iteration, shuffled-within-groups those of their own group',
      ['none', 'shuffled-rewards', 'shuffled-within-groups'],
      'none',
    ),
    recompute: choice(
      'blocks keeps one hidden state for each layer and recomputes the layer in the backward pass: less memory, more time',
      ['none', 'blocks'],
      'none',
    ),
    prefixTrees: choice(
      'auto computes the common beginning of sequences once where that saves work, as of episodes of one group; off each sequence by itself',
      ['auto', 'off'],
      'auto',
    ),
    parityBound: ParityBlock,
  },
  'The optimiser and the length of the run',
);

export const CheckpointBlock = block(
  {
    every: integer(
      'Iterations between checkpoints; 0 writes only the last',
      within(0, most.iterations, 10, 'iterations'),
    ),
    keepLast: integer(
      'Newest checkpoints to keep; older ones are deleted',
      within(1, most.count, 2),
    ),
    keepBest: flag(
      'Also keep the one with the highest success rate on tasks cut from the training split (eval.selectionTasks); needs eval.every',
      false,
    ),
  },
  'Which checkpoints are written and kept',
);

export const EvalBlock = block(
  {
    before: flag('Evaluate before the first update', true),
    after: flag('Evaluate after the last update', true),
    every: integer(
      'Iterations between evaluations during training; 0 is never',
      within(0, most.iterations, 0, 'iterations'),
    ),
    samples: integer('Attempts at each task', within(1, 65_536, 1, 'episodes')),
    temperature: number(
      'Sampling temperature; 0 takes the most likely token. topK, topP and minP do not apply',
      within(0, 10, 0),
    ),
    strategy: choice(
      'Which attempts at a task count. all: each. greedy: one at temperature 0, whatever samples and temperature say. best-of-n: of samples attempts the one that selector rates highest. majority: of samples attempts one with the answer that most of them gave',
      ['all', 'greedy', 'best-of-n', 'majority'],
      'all',
    ),
    selector: text(
      'With best-of-n: log-probability, the mean of the tokens that an attempt sampled, or the name of a reward of the run that cannot see what is right',
      { minLength: 1, default: 'log-probability' },
    ),
    selectionTasks: integer(
      'With checkpoint.keepBest: training tasks, chosen once by the seed, that are never trained on and only choose the best checkpoint, every eval.every iterations and at the end',
      within(1, 1e9, 64, 'tasks'),
    ),
    maxTasks: Type.Optional(
      integer('Tasks to attempt, chosen once by the seed; all by default', {
        minimum: 1,
        maximum: 1e9,
        unit: 'tasks',
      }),
    ),
  },
  'When and how held-out tasks are attempted',
);
