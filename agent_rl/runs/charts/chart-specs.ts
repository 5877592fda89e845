/** The metrics of a chart, and how it shows them. */
export interface ChartSpec {
  title: string;
  /** Its name on the command line; reports draw the charts that have one. */
  name?: string;
  /** Names of metrics; one that ends in `*` is a prefix. */
  metrics: readonly string[];
  /** Narrows them down. @param all the names of everything that the run measured */
  choose?: (names: readonly string[], all: readonly string[]) => readonly string[];
  /** Each value is divided by this metric. */
  shareOf?: string;
  /** Values are shares. */
  isShare?: boolean;
  /** The axis of shares ends here unless one is larger; at 1 by default. */
  shareTo?: number;
  /** Not drawn for a single metric: another chart already shows that curve. */
  isBreakdown?: boolean;
  /** Parts of a whole, on top of each other, of the first run. */
  isStacked?: boolean;
  /** Measured some iterations apart. */
  isEvaluation?: boolean;
  /** Metrics that bound the first one. */
  interval?: readonly [string, string];
  /** Also shows success on held-out tasks, from before training to after it. */
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
const share = { isShare: true } as const;

/** The members of `seconds/*` that add up to an iteration also have a share of it, `busy/*`. */
const isPart = (name: string, all: readonly string[]): boolean =>
  all.includes(name.replace(/^seconds/, 'busy'));

/** All charts, in groups. */
export const chartGroups: readonly ChartGroup[] = [
  {
    title: 'Learning',
    charts: [
      { ...named('success', 'Success', 'rollout/successRate'), ...share, hasHeldOut: true },
      named('reward', 'Reward', 'rollout/rewardMean'),
      {
        ...one('Success on checkpoint selection tasks', 'selection/successRate'),
        interval: ['selection/intervalLow', 'selection/intervalHigh'],
        ...share,
        isEvaluation: true,
      },
      { ...one('Held-out success by slice', 'eval/group/*'), ...share, isEvaluation: true },
      one('Reward spread', 'rollout/rewardStd'),
      { ...one('Reward components', 'reward/*'), isBreakdown: true },
      {
        ...named('rewards', 'Rewards before weighting', 'score/*'),
        choose: (names) => (names.every((name) => name.endsWith('/environment')) ? [] : names),
      },
      { ...one('Success by agent', 'agentSuccess/*'), ...share },
      named('loss', 'Loss', 'train/loss'),
      { ...named('accuracy', 'Accuracy on demonstrations', 'train/accuracy'), ...share },
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
          'Failed tool calls per episode',
          'rollout/malformedCalls',
          'rollout/rejectedCalls',
          'rollout/failedCalls',
          'rollout/timedOutCalls',
        ),
        shareOf: 'rollout/episodes',
      },
      { ...one('Episodes with a tool call', 'rollout/toolCallRate'), ...share },
      one('Environment metrics', 'environment/*'),
    ],
  },
  {
    title: 'Optimisation',
    charts: [
      named('kl', 'KL from the starting weights', 'sent/kl', 'rollout/klMean'),
      one('KL from the old policy', 'sent/oldPolicyKl'),
      one('Probability ratio, new to old policy', 'sent/ratio'),
      {
        ...one('Clipped tokens', 'sent/clipFraction', 'sent/dualClipFraction', 'sent/guarded'),
        ...share,
        shareTo: 0.1,
      },
      named('gradient', 'Gradient norm', 'train/gradNorm'),
      one('Learning rate', 'train/learningRate'),
      one(
        'Log-probability gap, generator to learner',
        'parity/maxAbsLogProbGap',
        'parity/meanAbsLogProbGap',
      ),
      one('Off-policy correction', 'correction/factorMean', 'correction/maskedShare'),
    ],
  },
  {
    title: 'Groups and token use',
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
        ...share,
      },
      { ...one('Failed episodes', 'rollout/failedShare'), ...share, shareTo: 0.1 },
      { ...one('Sampled tokens by use', 'ledger/*'), isStacked: true },
      one('Retries', 'rollout/retries'),
    ],
  },
  {
    title: 'Speed',
    charts: [
      named('time', 'Time per iteration', 'seconds/total', 'seconds/collect', 'seconds/update'),
      one('Sampling speed', 'speed/decodeTokensPerSecond'),
      one('Update speed', 'speed/trainTokensPerSecond'),
      {
        ...one('Time per iteration by activity', 'seconds/*'),
        choose: (names, all) => names.filter((name) => isPart(name, all)),
        isStacked: true,
      },
      {
        ...one('Total time in episodes', 'seconds/*'),
        choose: (names, all) =>
          names.filter((name) => name !== 'seconds/total' && !isPart(name, all)),
      },
      one('Memory', 'system/rssBytes', 'system/peakRssBytes'),
    ],
  },
];

/** Names in legends of metrics whose own name says too little beside the title of the chart. */
const labels: Readonly<Record<string, string>> = {
  'rollout/successRate': 'training tasks',
  'rollout/entropyEstimate': 'all sampled tokens',
  'sent/entropy': 'tokens in the update',
  'rollout/lengthMean': 'mean',
  'rollout/lengthMax': 'longest',
  'sent/kl': 'tokens in the update',
  'rollout/klMean': 'all sampled tokens',
  'sent/guarded': 'ratio too large to train on',
  'parity/maxAbsLogProbGap': 'largest',
  'parity/meanAbsLogProbGap': 'mean',
  'group/zeroVariance': 'equal rewards',
  'group/allRight': 'all solved',
  'group/allWrong': 'none solved',
  'system/rssBytes': 'now',
  'system/peakRssBytes': 'peak',
};

/** A metric in words, `failed calls` for `rollout/failedCalls`; a member of a family without the family's name. */
export function metricLabel(name: string, { metrics }: ChartSpec): string {
  const families = metrics.flatMap((metric) => metric.match(/^.*(?=\*$)/) ?? []);
  const family = families.find((begin) => name.startsWith(begin));
  const own = name.slice(family?.length ?? name.indexOf('/') + 1);
  const isCamelCase = /^[a-z]+([A-Z][a-z]+)+$/.test(own);
  return labels[name] ?? (isCamelCase ? own.replaceAll(/[A-Z]/g, ' $&').toLowerCase() : own);
}
