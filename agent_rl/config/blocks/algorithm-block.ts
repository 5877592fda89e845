import { block, choice, integer, most, mostReward, number } from './block.ts';

const KlBlock = block(
  {
    kind: choice(
      'Estimator of the KL divergence from the starting weights (Schulman 2020)',
      ['none', 'k1', 'k2', 'k3'],
      'none',
    ),
    weight: number('Weight of the KL penalty in the loss', {
      minimum: 0,
      maximum: 100,
      default: 0,
    }),
  },
  'Penalty for moving away from the starting weights',
);

export const AlgorithmBlock = block(
  {
    name: choice('Group relative policy optimisation (Shao et al. 2024)', ['grpo'], 'grpo'),
    advantageStd: choice(
      'What the centred rewards of a group are divided by: a standard deviation, or nothing (Dr. GRPO)',
      ['sample', 'population', 'none'],
      'sample',
    ),
    advantageEps: number('Added to that standard deviation', {
      minimum: 0,
      maximum: 1,
      default: 1e-4,
    }),
    environmentWeight: number("Weight of the environment's own reward in the sum; 0 only logs it", {
      minimum: 0,
      maximum: mostReward,
      default: 1,
    }),
    clipLow: number('The probability ratio is clipped below at 1 - clipLow', {
      minimum: 0,
      maximum: 1,
      default: 0.2,
    }),
    clipHigh: number('The probability ratio is clipped above at 1 + clipHigh (DAPO 3.1)', {
      minimum: 0,
      maximum: 100,
      default: 0.28,
    }),
    kl: KlBlock,
    aggregation: choice(
      'How token losses become one: mean over all tokens, mean of the means of sequences, or sum divided by a constant, the most tokens an episode may sample',
      ['token-mean', 'sequence-mean', 'constant'],
      'token-mean',
    ),
    epochs: integer('Passes over the episodes of an iteration, one optimiser step each', {
      minimum: 1,
      maximum: 1000,
      default: 1,
    }),
    microBatchTokens: integer(
      'Most tokens, padding included, in one forward and backward pass; fewer need less memory',
      { minimum: 16, maximum: most.tokens, default: 4096, unit: 'tokens' },
    ),
  },
  'How rewards become a loss',
);
