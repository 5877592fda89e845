/** What a chart of the overview shows. */
export interface ChartSpec {
  title: string;
  /** Names of metrics; one that ends in `*` stands for all that begin so. */
  metrics: readonly string[];
  /** Metrics of such a family that another chart has. */
  without?: readonly string[];
  /** Shown as a share of this metric. */
  shareOf?: string;
  /** Parts of a whole, on top of each other, of the run looked at. */
  isStacked?: boolean;
  /** Metrics that bound the first one. */
  interval?: readonly [string, string];
  /** Members of `seconds/*` that add up to an iteration: those that have a share of it, `busy/*`. */
  only?: 'parts of an iteration' | 'sums over episodes';
}

export interface ChartGroup {
  title: string;
  charts: readonly ChartSpec[];
}

const one = (title: string, ...metrics: string[]): ChartSpec => ({ title, metrics });

/** The charts of the overview, in groups. */
export const chartGroups: readonly ChartGroup[] = [
  {
    title: 'Learning',
    charts: [
      one('Reward', 'rollout/rewardMean'),
      one('Success in training', 'rollout/successRate'),
      {
        title: 'Success on tasks that choose the best checkpoint',
        metrics: ['selection/successRate'],
        interval: ['selection/intervalLow', 'selection/intervalHigh'],
      },
      one('Held-out success by slice during training', 'eval/group/*'),
      one('Spread of rewards', 'rollout/rewardStd'),
      one('Parts of the reward', 'reward/*'),
      one('Success by agent', 'agentSuccess/*'),
      one('Accuracy on demonstrations', 'train/accuracy'),
    ],
  },
  {
    title: 'Behaviour',
    charts: [
      one('Tool calls of an episode', 'rollout/callsMean'),
      one('Turns of an episode', 'rollout/turnsMean'),
      one('Sampled tokens of an episode', 'rollout/lengthMean', 'rollout/lengthMax'),
      { title: 'Outcomes', metrics: ['outcome/*'], isStacked: true },
      one(
        'Calls that went wrong',
        'rollout/malformedCalls',
        'rollout/rejectedCalls',
        'rollout/failedCalls',
        'rollout/timedOutCalls',
      ),
      one('Episodes with a call', 'rollout/toolCallRate'),
      one('What the environment counts', 'environment/*'),
    ],
  },
  {
    title: 'Optimisation',
    charts: [
      one('Entropy', 'sent/entropy', 'rollout/entropyEstimate'),
      one('KL to the starting weights', 'sent/kl', 'rollout/klMean'),
      one('KL to the old policy', 'sent/oldPolicyKl'),
      one('Ratio of new to old probability', 'sent/ratio'),
      one('Clipped share', 'sent/clipFraction', 'sent/dualClipFraction', 'sent/guarded'),
      one('Gradient norm', 'train/gradNorm'),
      one('Learning rate', 'train/learningRate'),
      one('Loss', 'train/loss'),
      one('Parity of rollout and learner', 'parity/maxAbsLogProbGap', 'parity/meanAbsLogProbGap'),
      one('Correction', 'correction/factorMean', 'correction/maskedShare'),
    ],
  },
  {
    title: 'Groups and ledger',
    charts: [
      {
        title: 'Share of groups with equal rewards',
        metrics: ['group/zeroVariance', 'group/allRight', 'group/allWrong'],
        shareOf: 'group/count',
      },
      one('Share of episodes that failed', 'rollout/failedShare'),
      { title: 'Ledger of sampled tokens', metrics: ['ledger/*'], isStacked: true },
      one('Retries', 'rollout/retries'),
    ],
  },
  {
    title: 'Speed',
    charts: [
      one('Tokens a second, sampled', 'speed/decodeTokensPerSecond'),
      one('Tokens a second, in updates', 'speed/trainTokensPerSecond'),
      {
        title: 'Where the seconds of an iteration go',
        metrics: ['seconds/*'],
        only: 'parts of an iteration',
        isStacked: true,
      },
      {
        title: 'Seconds of episodes, summed over all at once',
        metrics: ['seconds/*'],
        without: ['seconds/total'],
        only: 'sums over episodes',
      },
      one('Memory', 'system/rssBytes', 'system/peakRssBytes'),
    ],
  },
];
