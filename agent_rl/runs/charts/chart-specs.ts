/** What a chart shows of runs, where they measured it. */
export interface ChartSpec {
  title: string;
  /** What it is called on the command line; reports draw the charts that have such a name. */
  name?: string;
  /** Names of metrics; one that ends in `*` stands for all that begin so. */
  metrics: readonly string[];
  /** Chooses among these. @param all names of what the run measured */
  choose?: (names: readonly string[], all: readonly string[]) => readonly string[];
  /** Shown as a share of this metric. */
  shareOf?: string;
  /** Values are shares. */
  isShare?: boolean;
  /** Parts of a whole, on top of each other, of the first run. */
  isStacked?: boolean;
  /** Metrics that bound the first one. */
  interval?: readonly [string, string];
  /** Has success on held-out tasks too, from before training to after it. */
  hasHeldOut?: boolean;
}

export interface ChartGroup {
  title: string;
  charts: readonly ChartSpec[];
}

const one = (title: string, ...metrics: string[]): ChartSpec => ({ title, metrics });
const named = (name: string, title: string, ...metrics: string[]): ChartSpec => ({
  name,
  title,
  metrics,
});

/** Members of `seconds/*` that add up to an iteration have a share of it, `busy/*`. */
const isPart = (name: string, all: readonly string[]): boolean =>
  all.includes(name.replace(/^seconds/, 'busy'));

/** All charts, in groups. */
export const chartGroups: readonly ChartGroup[] = [
  {
    title: 'Learning',
    charts: [
      { ...named('success', 'Success', 'rollout/successRate'), isShare: true, hasHeldOut: true },
      named('reward', 'Reward', 'rollout/rewardMean'),
      {
        title: 'Success on selection tasks',
        metrics: ['selection/successRate'],
        interval: ['selection/intervalLow', 'selection/intervalHigh'],
        isShare: true,
      },
      { ...one('Held-out success by slice during training', 'eval/group/*'), isShare: true },
      one('Reward spread', 'rollout/rewardStd'),
      one('Reward parts', 'reward/*'),
      {
        ...named('rewards', 'Rewards before weighting', 'score/*'),
        choose: (names) => (names.every((name) => name.endsWith('/environment')) ? [] : names),
      },
      { ...one('Success by agent', 'agentSuccess/*'), isShare: true },
      named('loss', 'Loss', 'train/loss'),
      { ...named('accuracy', 'Accuracy on demonstrations', 'train/accuracy'), isShare: true },
    ],
  },
  {
    title: 'Behaviour',
    charts: [
      named('entropy', 'Entropy', 'rollout/entropyEstimate', 'sent/entropy'),
      named('calls', 'Tool calls per episode', 'rollout/callsMean'),
      one('Turns per episode', 'rollout/turnsMean'),
      named('length', 'Sampled tokens per episode', 'rollout/lengthMean', 'rollout/lengthMax'),
      { ...one('Outcomes', 'outcome/*'), isStacked: true },
      {
        ...named(
          'wrong-calls',
          'Failed calls per episode',
          'rollout/malformedCalls',
          'rollout/rejectedCalls',
          'rollout/failedCalls',
          'rollout/timedOutCalls',
        ),
        shareOf: 'rollout/episodes',
      },
      one('Episodes with a tool call', 'rollout/toolCallRate'),
      one('Environment counters', 'environment/*'),
    ],
  },
  {
    title: 'Optimisation',
    charts: [
      named('kl', 'KL to the initial weights', 'sent/kl', 'rollout/klMean'),
      one('KL to the old policy', 'sent/oldPolicyKl'),
      one('Ratio of new to old probability', 'sent/ratio'),
      one('Clipped share', 'sent/clipFraction', 'sent/dualClipFraction', 'sent/guarded'),
      named('gradient', 'Gradient norm', 'train/gradNorm'),
      one('Learning rate', 'train/learningRate'),
      one('Rollout and learner parity', 'parity/maxAbsLogProbGap', 'parity/meanAbsLogProbGap'),
      one('Correction', 'correction/factorMean', 'correction/maskedShare'),
    ],
  },
  {
    title: 'Groups and ledger',
    charts: [
      {
        ...named(
          'groups',
          'Groups with equal rewards',
          'group/zeroVariance',
          'group/allRight',
          'group/allWrong',
        ),
        shareOf: 'group/count',
        isShare: true,
      },
      one('Failed episodes', 'rollout/failedShare'),
      { ...one('Ledger of sampled tokens', 'ledger/*'), isStacked: true },
      one('Retries', 'rollout/retries'),
    ],
  },
  {
    title: 'Speed',
    charts: [
      named('time', 'Seconds per iteration', 'seconds/total', 'seconds/collect', 'seconds/update'),
      one('Sampled tokens per second', 'speed/decodeTokensPerSecond'),
      one('Trained tokens per second', 'speed/trainTokensPerSecond'),
      {
        ...one('Time per activity', 'seconds/*'),
        choose: (names, all) => names.filter((name) => isPart(name, all)),
        isStacked: true,
      },
      {
        ...one('Time in episodes, summed over parallel episodes', 'seconds/*'),
        choose: (names, all) =>
          names.filter((name) => name !== 'seconds/total' && !isPart(name, all)),
      },
      one('Memory', 'system/rssBytes', 'system/peakRssBytes'),
    ],
  },
];
