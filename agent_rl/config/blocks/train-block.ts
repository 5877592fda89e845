import { Type } from '../../core/typebox.ts';
import { above, block, choice, flag, integer, most, number, text, within } from './block.ts';

const ParityBlock = block(
  {
    max: number(
      'Upper limit of |log p(rollout) - log p(train)| of any token',
      above(0, 10, 1e-3, 'nats'),
    ),
    mean: number(
      'Upper limit of the mean of |log p(rollout) - log p(train)| over the tokens of an iteration',
      above(0, 1, 1e-4, 'nats'),
    ),
  },
  'The run stops if generator and learner disagree by more than this',
);

const moment = (value: number, description: string) =>
  number(description, { minimum: 0, exclusiveMaximum: 1, default: value });

/** `train.until:` a success rate that ends supervised training early. */
const UntilBlock = Type.Object(
  {
    success: number(
      'Training ends when an evaluation (eval.every) reaches this success rate',
      above(0, 1),
    ),
  },
  {
    additionalProperties: false,
    description: 'In sft, training ends early once an evaluation reaches this success rate',
  },
);

export const TrainBlock = block(
  {
    mode: choice(
      'rl learns from the rewards of episodes; sft imitates the demonstrations in the dataset',
      ['rl', 'sft'],
      'rl',
    ),
    iterations: integer(
      'Length of the run: collect-and-update iterations in rl, optimiser steps in sft',
      within(1, most.iterations, 40, 'iterations'),
    ),
    maxIterations: Type.Optional(
      integer(
        'Stop after this many iterations; the learning-rate schedule still follows `iterations` unless this is larger',
        { minimum: 1, maximum: most.iterations, unit: 'iterations' },
      ),
    ),
    until: Type.Optional(UntilBlock),
    batchSize: integer(
      'In sft: demonstrations per optimiser step',
      within(1, most.count, 32, 'sequences'),
    ),
    contextWeight: number(
      "In sft: loss weight of prompt and tool-result tokens, relative to the assistant's tokens",
      within(0, 100, 0),
    ),
    learningRate: number('Peak learning rate of AdamW', above(0, 1, 3e-4)),
    warmupSteps: integer(
      'Optimiser steps over which the learning rate rises to its peak',
      within(0, most.iterations, 0, 'steps'),
    ),
    schedule: choice(
      'Learning rate after the warm-up: constant, or a half cosine down to finalRatio of the peak',
      ['cosine', 'constant'],
      'constant',
    ),
    finalRatio: number(
      'Final learning rate of the cosine, as a fraction of the peak',
      within(0, 1, 0.1),
    ),
    beta1: moment(
      0.9,
      "AdamW's beta1: how much of its running mean of the gradient each step keeps",
    ),
    beta2: moment(
      0.95,
      "AdamW's beta2: how much of its running mean of the squared gradient each step keeps",
    ),
    eps: number('Epsilon of AdamW', above(0, 1, 1e-8)),
    weightDecay: number(
      "AdamW's decoupled weight decay; norms and biases do not decay",
      within(0, 10, 0),
    ),
    maxGradNorm: number(
      'Gradients are clipped to this global norm; 0 turns clipping off',
      within(0, 1e6, 1),
    ),
    control: choice(
      'Turns the run into a control that must not learn: rewards are shuffled across the iteration, or within each group',
      ['none', 'shuffled-rewards', 'shuffled-within-groups'],
      'none',
    ),
    recompute: choice(
      'With blocks, each layer is computed again in the backward pass, which needs less memory and more time',
      ['none', 'blocks'],
      'none',
    ),
    prefixTrees: choice(
      'auto computes shared prefixes of sequences once; off computes each sequence separately',
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
      'Iterations between checkpoints; 0 writes only the last one',
      within(0, most.iterations, 10, 'iterations'),
    ),
    keepLast: integer(
      'Number of checkpoints to keep; older ones are deleted',
      within(1, most.count, 2),
    ),
    keepBest: flag(
      'Also keep the checkpoint with the highest success rate on eval.selectionTasks; needs eval.every',
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
      'Iterations between evaluations during training; 0 turns them off',
      within(0, most.iterations, 0, 'iterations'),
    ),
    samples: integer('Attempts per task', within(1, 65_536, 1, 'episodes')),
    temperature: number(
      'Sampling temperature; 0 is greedy. topK, topP and minP do not apply',
      within(0, 10, 0),
    ),
    strategy: choice(
      'Attempts that count: all; greedy (one attempt at temperature 0); best-of-n (the attempt that selector rates highest); majority (an attempt with the most frequent answer)',
      ['all', 'greedy', 'best-of-n', 'majority'],
      'all',
    ),
    selector: text(
      'How best-of-n rates attempts: by mean log-probability, or by a reward of the run that cannot see the expected answer (give its name)',
      { minLength: 1, default: 'log-probability' },
    ),
    selectionTasks: integer(
      'Training tasks held out to choose the best checkpoint (checkpoint.keepBest)',
      within(1, 1e9, 64, 'tasks'),
    ),
    maxTasks: Type.Optional(
      integer('Number of tasks to attempt, chosen by the seed; all by default', {
        minimum: 1,
        maximum: 1e9,
        unit: 'tasks',
      }),
    ),
  },
  'When and how held-out tasks are evaluated',
);
