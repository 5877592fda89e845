/** One algorithm as a list of parts: what `algorithm.name` stands for. */
export interface AlgorithmPreset {
  title: string;
  /** Where it comes from. */
  paper: string;
  /** Settings below `algorithm` that differ from the defaults of `config/blocks/algorithm-block.ts`; `{}` is those alone. */
  settings: Readonly<Record<string, unknown>>;
  /** How a run with this preset departs from the paper, one sentence each. */
  departures: readonly string[];
}

/** What `algorithm.name` may be. Settings in the run file override the preset. */
export const algorithmPresets = {
  grpo: {
    title:
      'Group relative policy optimisation, with the clip bounds and the mean over tokens from DAPO',
    paper: 'Shao et al. 2024, https://arxiv.org/abs/2402.03300',
    settings: {},
    departures: [
      'The loss is averaged over all tokens of a step; the paper first averages within each episode (aggregation: sequence-mean).',
      'The upper bound of the ratio is 1.28 (DAPO), not 1.2.',
      'No KL term; the paper has k3 with weight 0.04 in the loss (kl: {kind: k3, weight: 0.04}).',
    ],
  },
  'dr-grpo': {
    title: 'GRPO that divides neither by the standard deviation nor by the length',
    paper: 'Liu et al. 2025, https://arxiv.org/abs/2503.20783',
    settings: { advantage: { type: 'group-relative', std: 'none' }, aggregation: 'constant' },
    departures: ['The upper bound of the ratio is 1.28 (DAPO), not 1.2.'],
  },
  dapo: {
    title:
      'GRPO with a higher upper bound, dynamic sampling, a mean over tokens and soft overlong punishment',
    paper: 'Yu et al. 2025, https://arxiv.org/abs/2503.14476',
    settings: {
      loss: { type: 'clipped', clipLow: 0.2, clipHigh: 0.28 },
      selection: { type: 'dynamic' },
      overlong: { share: 0.2 },
    },
    departures: [
      'Groups with equal rewards are resampled for at most selection.cap rounds; after that, they are kept and counted.',
      'The length of an episode is the number of tokens sampled in all its turns.',
      'Rewards minus their mean are divided by the sample standard deviation, as in TRL.',
    ],
  },
  rloo: {
    title: "REINFORCE whose baseline is the mean reward of the group's other episodes",
    paper: 'Ahmadian et al. 2024, https://arxiv.org/abs/2402.14740',
    settings: {
      advantage: { type: 'rloo' },
      loss: { type: 'reinforce' },
      aggregation: 'constant',
    },
    departures: [
      "The sum over an episode's tokens is divided by the token limit of an episode.",
      'No KL term; the paper subtracts k1 from the reward (kl: {kind: k1, weight: W, in: reward}).',
    ],
  },
  'reinforce++': {
    title: 'Clipped policy gradient with rewards normalised over the whole collection',
    paper: 'Hu et al. 2025, https://arxiv.org/abs/2501.03262',
    settings: {
      advantage: { type: 'reinforce-plus-plus' },
      loss: { type: 'clipped', clipLow: 0.2, clipHigh: 0.2 },
    },
    departures: [
      'No KL term; the paper subtracts k1 from the reward (kl: {kind: k1, weight: W, in: reward}).',
      'Each episode has one advantage, which includes the KL of all its tokens; in the paper, the advantage of a token includes only the KL of later tokens.',
    ],
  },
  rft: {
    title: 'Rejection-sampling fine-tuning: imitates episodes that were good enough',
    paper: 'Yuan et al. 2023, https://arxiv.org/abs/2308.01825',
    settings: {
      advantage: { type: 'constant' },
      loss: { type: 'reinforce' },
      selection: { type: 'best-of', above: 0 },
    },
    departures: [
      'Each iteration samples new episodes from its weights; the paper samples once and trains on all of it.',
      'Duplicate episodes are not removed.',
    ],
  },
  distill: {
    title: 'On-policy distillation: a teacher judges each token that the policy sampled',
    paper: 'Lu and Thinking Machines 2025, https://thinkingmachines.ai/blog/on-policy-distillation',
    settings: { distill: { weight: 1, advantageWeight: 0 } },
    departures: [
      'The loss is clipped as in GRPO, which acts only if a collection has several optimiser steps.',
      'A token answers for its own divergence from the teacher; rewards can be mixed in (distill: {advantageWeight: 1}).',
    ],
  },
  gspo: {
    title: 'GRPO with one clipped ratio per sequence',
    paper: 'Zheng et al. 2025, https://arxiv.org/abs/2507.18071',
    settings: {
      loss: { type: 'gspo', clipLow: 3e-4, clipHigh: 4e-4 },
      aggregation: 'sequence-mean',
    },
    departures: ['A sequence of several turns has one ratio over all its sampled tokens.'],
  },
  cispo: {
    title: 'REINFORCE weighted by the clipped ratio, so that every token keeps a gradient',
    paper: 'MiniMax 2025, https://arxiv.org/abs/2506.13585',
    settings: { loss: { type: 'cispo' } },
    departures: ['The upper bound is 5; the paper does not state a value.'],
  },
} as const satisfies Readonly<Record<string, AlgorithmPreset>>;

export type AlgorithmName = keyof typeof algorithmPresets;

export const algorithmNames = Object.keys(algorithmPresets) as [AlgorithmName, ...AlgorithmName[]];
