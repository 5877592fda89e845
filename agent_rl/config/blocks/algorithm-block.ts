import { Type } from 'typebox';

import { block } from './block.ts';

const KlBlock = block(
  {
    kind: Type.Enum(['none', 'k1', 'k2', 'k3'], {
      default: 'none',
      description: 'Estimator of the KL divergence from the starting weights (Schulman 2020)',
    }),
    weight: Type.Number({
      minimum: 0,
      default: 0,
      description: 'Weight of the KL penalty in the loss',
    }),
  },
  'Penalty for moving away from the starting weights',
);

/** `algorithm:` how rewards become a loss. */
export const AlgorithmBlock = block(
  {
    name: Type.Enum(['grpo'], {
      default: 'grpo',
      description: 'Group relative policy optimisation (Shao et al. 2024)',
    }),
    advantageStd: Type.Enum(['sample', 'population', 'none'], {
      default: 'sample',
      description:
        'What the centred rewards of a group are divided by: a standard deviation, or nothing (Dr. GRPO)',
    }),
    advantageEps: Type.Number({
      minimum: 0,
      default: 1e-4,
      description: 'Added to that standard deviation',
    }),
    rewardScheme: Type.Enum(['weighted', 'uniform', 'std', 'pca', 'l2', 'normalised'], {
      default: 'weighted',
      description:
        'How the rewards of an episode become one: by their weights, or by how they spread in its group',
    }),
    environmentWeight: Type.Number({
      minimum: 0,
      default: 1,
      description: "Weight of the environment's own reward in the sum; 0 only logs it",
    }),
    clipLow: Type.Number({
      minimum: 0,
      maximum: 1,
      default: 0.2,
      description: 'The probability ratio is clipped below at 1 - clipLow',
    }),
    clipHigh: Type.Number({
      minimum: 0,
      default: 0.28,
      description: 'The probability ratio is clipped above at 1 + clipHigh (DAPO 3.1)',
    }),
    kl: KlBlock,
    aggregation: Type.Enum(['token-mean', 'sequence-mean', 'constant'], {
      default: 'token-mean',
      description:
        'How token losses become one: mean over all tokens, mean of the means of sequences, or sum divided by a constant, the most tokens an episode may sample',
    }),
    epochs: Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Passes over the episodes of an iteration, one optimiser step each',
    }),
    microBatchTokens: Type.Integer({
      minimum: 16,
      default: 4096,
      unit: 'tokens',
      description:
        'Most tokens, padding included, in one forward and backward pass; fewer need less memory',
    }),
    truncated: Type.Enum(['train', 'drop'], {
      default: 'train',
      description: 'Whether episodes that ran out of tokens or turns are trained on or dropped',
    }),
  },
  'How rewards become a loss',
);
