/** One algorithm as a list of parts: what `algorithm.name` stands for. */
export interface AlgorithmPreset {
  title: string;
  /** Where it comes from. */
  paper: string;
  /** Settings below `algorithm` that differ from the defaults of `config/blocks/algorithm-block.ts`; `{}` is those alone. */
  settings: Readonly<Record<string, unknown>>;
  /** Where a run with this preset is not what the paper did, a sentence each. */
  departures: readonly string[];
}

/** What `algorithm.name` may be. Settings that are written down go over those of the preset. */
export const algorithmPresets = {
  grpo: {
    title: 'Group relative policy optimisation, with the bounds and the mean over tokens of DAPO',
    paper: 'Shao et al. 2024, https://arxiv.org/abs/2402.03300',
    settings: {},
    departures: [
      'The mean is over the tokens of a step; the paper takes it over those of each episode first (aggregation: sequence-mean).',
      'The upper bound of the ratio is 1.28 (DAPO), not 1.2.',
      'No KL term; the paper has k3 with weight 0.04 in the loss (kl: {kind: k3, weight: 0.04}).',
    ],
  },
  'dr-grpo': {
    title: 'GRPO without division by the deviation and by the length',
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
      'Groups are drawn again for at most selection.cap rounds; then flat ones are kept and counted.',
      'The length of an episode is what it sampled in all its turns.',
      'Rewards are divided by the sample deviation, as in TRL.',
    ],
  },
  rloo: {
    title: 'REINFORCE with the mean of the other episodes of the group as baseline',
    paper: 'Ahmadian et al. 2024, https://arxiv.org/abs/2402.14740',
    settings: {
      advantage: { type: 'rloo' },
      loss: { type: 'reinforce' },
      aggregation: 'constant',
    },
    departures: [
      'The sum over the tokens of an episode is divided by the most tokens it may sample.',
      'No KL term; the paper takes k1 off the reward (kl: {kind: k1, weight: W, in: reward}).',
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
      'No KL term; the paper takes k1 off the reward (kl: {kind: k1, weight: W, in: reward}).',
      'One advantage for an episode, with all of its KL; in the paper a token has that of the tokens still to come.',
    ],
  },
  rft: {
    title: 'Rejection-sampling fine-tuning: episodes that were good enough are imitated',
    paper: 'Yuan et al. 2023, https://arxiv.org/abs/2308.01825',
    settings: {
      advantage: { type: 'constant' },
      loss: { type: 'reinforce' },
      selection: { type: 'best-of', above: 0 },
    },
    departures: [
      'Episodes are sampled anew from the weights of each iteration; the paper samples once and trains on all of it.',
      'Equal episodes are not taken once.',
    ],
  },
  gspo: {
    title: 'GRPO with one clipped ratio for a whole sequence',
    paper: 'Zheng et al. 2025, https://arxiv.org/abs/2507.18071',
    settings: {
      loss: { type: 'gspo', clipLow: 3e-4, clipHigh: 4e-4 },
      aggregation: 'sequence-mean',
    },
    departures: ['A sequence of several turns has one ratio, over all tokens sampled in it.'],
  },
  cispo: {
    title: 'REINFORCE weighed by the clipped ratio, so that every token keeps a gradient',
    paper: 'MiniMax 2025, https://arxiv.org/abs/2506.13585',
    settings: { loss: { type: 'cispo' } },
    departures: ['The upper bound is 5; the paper does not say its own.'],
  },
} as const satisfies Readonly<Record<string, AlgorithmPreset>>;

export type AlgorithmName = keyof typeof algorithmPresets;

export const algorithmNames = Object.keys(algorithmPresets) as [AlgorithmName, ...AlgorithmName[]];
