import { algorithmNames } from '../algorithm-presets.ts';
import { block, choice, integer, most, mostReward, number, optionalText, within } from './block.ts';
import { partBlock } from './plugin-blocks.ts';

const KlBlock = block(
  {
    kind: choice(
      'Estimator of the KL divergence from the reference (Schulman 2020)',
      ['none', 'k1', 'k2', 'k3'],
      'none',
    ),
    in: choice(
      'Where it stands: at each token in the loss (GRPO), or its sum over an episode taken off the reward before episodes are compared (RLOO)',
      ['loss', 'reward'],
      'loss',
    ),
    weight: number(
      'Weight of the KL penalty: in the loss, or reward for each nat',
      within(0, 100, 0),
    ),
    reference: optionalText(
      "Folder of the model or checkpoint that is the reference, with the tokenizer of the run's model; by default the weights that training starts from",
    ),
  },
  'Penalty for moving away from a reference whose weights stay as they are',
);

const OverlongBlock = block(
  {
    share: number(
      'The penalty rises over this share of the most tokens an episode may sample; 0 is off (DAPO 3.4)',
      within(0, 1, 0),
    ),
    penalty: number(
      'Taken off the reward of an episode that samples as much as it may',
      within(0, mostReward, 1, 'reward'),
    ),
  },
  'What long episodes lose, before they are compared',
);

export const AlgorithmBlock = block(
  {
    name: choice(
      'A list of parts and their settings, over which go those written here; agent-rl plugins algorithms shows them',
      algorithmNames,
      'grpo',
    ),
    advantage: partBlock(
      'an advantage',
      'group-relative',
      'How rewards become advantages, and the settings of that',
    ),
    loss: partBlock('a loss', 'clipped', 'What is minimised at each token, and its settings'),
    environmentWeight: number(
      "Weight of the environment's own reward in the sum; 0 only logs it",
      within(0, mostReward, 1),
    ),
    kl: KlBlock,
    correction: partBlock(
      'a correction',
      'none',
      'What is done about the difference between the policy that sampled and the weights the update begins with, and its settings',
    ),
    selection: partBlock('a selection', 'all', 'What is learned from, and its settings'),
    overlong: OverlongBlock,
    entropyBonus: number(
      'Weight of the entropy of the policy, taken off the loss',
      within(0, 100, 0),
    ),
    aggregation: choice(
      'How token losses become one: mean over all tokens, mean of the means of sequences or of prompts, or sum divided by a constant, the most tokens an episode may sample',
      ['token-mean', 'sequence-mean', 'prompt-mean', 'constant'],
      'token-mean',
    ),
    epochs: integer('Passes over the episodes of an iteration', within(1, 1000, 1)),
    updatesPerBatch: integer(
      'Optimiser steps of a pass: the groups of an iteration are dealt into so many parts, a step each',
      within(1, 1000, 1),
    ),
    microBatchTokens: integer(
      'Most tokens, padding included, in one forward and backward pass; fewer need less memory',
      within(16, most.tokens, 4096, 'tokens'),
    ),
  },
  'How rewards become a loss',
);
