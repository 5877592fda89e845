/** What the legend calls a metric, beside the title of its chart. */
const labels: Readonly<Record<string, string>> = {
  'rollout/successRate': 'training tasks',
  'selection/successRate': 'selection tasks, 95 % interval',
  'rollout/rewardMean': 'mean',
  'rollout/rewardStd': 'standard deviation',
  'rollout/entropyEstimate': 'all sampled tokens',
  'sent/entropy': 'tokens in the update',
  'rollout/callsMean': 'mean',
  'rollout/turnsMean': 'mean',
  'rollout/lengthMean': 'mean',
  'rollout/lengthMax': 'longest',
  'rollout/malformedCalls': 'unreadable',
  'rollout/rejectedCalls': 'unknown tool or invalid arguments',
  'rollout/failedCalls': 'tool error',
  'rollout/timedOutCalls': 'timed out',
  'rollout/toolCallRate': 'share of episodes',
  'rollout/failedShare': 'share of episodes',
  'rollout/retries': 'retries',
  'sent/kl': 'tokens in the update',
  'rollout/klMean': 'all sampled tokens',
  'sent/oldPolicyKl': 'mean',
  'sent/ratio': 'mean',
  'sent/clipFraction': 'clipped',
  'sent/dualClipFraction': 'dual clip',
  'sent/guarded': 'out of range, no gradient',
  'train/loss': 'mean',
  'train/accuracy': 'most likely token',
  'train/gradNorm': 'before clipping',
  'train/learningRate': 'last step',
  'parity/maxAbsLogProbGap': 'largest',
  'parity/meanAbsLogProbGap': 'mean',
  'correction/factorMean': 'mean factor',
  'correction/maskedShare': 'share masked',
  'group/zeroVariance': 'equal rewards',
  'group/allRight': 'all solved',
  'group/allWrong': 'none solved',
  'speed/decodeTokensPerSecond': 'sampled tokens',
  'speed/trainTokensPerSecond': 'trained tokens',
  'system/rssBytes': 'now',
  'system/peakRssBytes': 'peak',
};

/**
 * A metric in words; a member of a family by its own name, such as an outcome or a slice.
 *
 * @param among metrics of the chart, families included
 */
export function metricLabel(name: string, among: readonly string[]): string {
  const prefixes = among.map((one) => one.replace('*', ''));
  const family = prefixes.find((prefix) => name.startsWith(prefix) && name !== prefix);
  return labels[name] ?? name.slice(family?.length ?? name.indexOf('/') + 1);
}
