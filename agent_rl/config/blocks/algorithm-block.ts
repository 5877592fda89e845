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
      'Where the penalty applies: to each token in the loss (GRPO), or summed over an episode and subtracted from its reward (RLOO)',
      ['loss', 'reward'],
      'loss',
    ),
    weight: number(
      'Weight of the KL penalty: its factor in the loss, or the reward that is subtracted for each nat',
      within(0, 100, 0),
    ),
    reference: optionalText(
      'Name of the reference policy, from policies; by default the starting weights',
    ),
  },
  'Penalty for moving away from a frozen reference model',
);

const DistillBlock = block(
  {
    teacher: optionalText('Name of the teacher, a policy without a learner, from policies'),
    hint: optionalText(
      "Text that only the teacher reads after the question, on a new line unless it begins with a space, such as `The right answer is {answer}.` {answer} is the task's, {error} what a tool of the episode last reported, {solution} the turns of a solved episode of the group; an episode without it is not taught. Without a teacher the policy, so informed, teaches itself",
    ),
    leastHintGain: number(
      'The run ends before training if held-out success of the policy (not of another teacher) with the hint is not better by this. 0 does not measure it',
      within(0, 1, 0.05),
    ),
    weight: number(
      'How much the advantage of a sampled token grows for each nat by which the teacher finds it likelier than the policy; with topK, weight of the divergence in the loss',
      within(0, 100, 1),
    ),
    advantageWeight: number(
      'Weight of the advantage that follows from rewards; 0 learns from the teacher alone',
      within(0, 100, 1),
    ),
    topK: integer(
      "Compare the policy with the teacher over the teacher's k likeliest tokens in each place; 0 compares the sampled token only",
      within(0, 1024, 0),
    ),
  },
  'Learning from a teacher that judges the tokens which the policy sampled',
);

const OverlongBlock = block(
  {
    share: number(
      'The penalty grows over this last share of the token limit, such as 0.2 for the last fifth; 0 turns it off (DAPO 3.4)',
      within(0, 1, 0),
    ),
    penalty: number(
      'Subtracted from the reward of an episode that reaches the token limit',
      within(0, mostReward, 1, 'reward'),
    ),
  },
  'Penalty for long episodes',
);

export const AlgorithmBlock = block(
  {
    name: choice(
      'Preset that fills in the settings below; settings that you give take precedence. `agent-rl plugins algorithms` lists the presets',
      algorithmNames,
      'grpo',
    ),
    advantage: partBlock('an advantage', 'group-relative', 'How rewards become advantages'),
    loss: partBlock('a loss', 'clipped', 'The loss of each token'),
    environmentWeight: number(
      "Weight of the environment's reward; 0 only logs it",
      within(0, mostReward, 1),
    ),
    kl: KlBlock,
    distill: DistillBlock,
    correction: partBlock(
      'a correction',
      'none',
      'Weighs tokens by how much their probability differs between the policy that sampled them and the weights before the update',
    ),
    selection: partBlock('a selection', 'all', 'Which groups and episodes are trained on'),
    overlong: OverlongBlock,
    entropyBonus: number(
      "Weight of the policy's entropy, which is subtracted from the loss",
      within(0, 100, 0),
    ),
    aggregation: choice(
      'How the losses of tokens are averaged. token-mean: over all tokens. sequence-mean: over the tokens of each sequence, then over the sequences. prompt-mean: over the tokens of each group, then over the groups. constant: like sequence-mean, but the sum over a sequence is divided by the token limit of an episode, not by its length',
      ['token-mean', 'sequence-mean', 'prompt-mean', 'constant'],
      'token-mean',
    ),
    epochs: integer('Passes over the episodes of each iteration', within(1, 1000, 1)),
    updatesPerBatch: integer(
      'Optimiser steps per pass, each on a share of the groups',
      within(1, 1000, 1),
    ),
    microBatchTokens: integer(
      'Token limit of one forward and backward pass, including padding; a lower limit needs less memory',
      within(16, most.tokens, 4096, 'tokens'),
    ),
  },
  'How rewards become a loss',
);
