/** What a metric means. */
export interface MetricDefinition {
  /** `1` for shares and pure numbers. */
  unit: string;
  description: string;
}

const metric = (unit: string, description: string): MetricDefinition => ({ unit, description });

/**
 * Every metric by name. A name that ends in `*` stands for a family whose members come from a run's plugins.
 * Means over episodes leave out those the system failed. The means of `sent/*` are over the sampled tokens sent to the
 * learner, each weighted as in the loss: episodes without advantage are not sent unless a KL term pulls on them. Where an
 * episode has several agents, members of families of rewards, scores and of the environment begin with the agent's name, and agents
 * that do not learn are left out of all others but the counts of tokens.
 */
export const metricNames = {
  'rollout/episodes': metric('episodes', 'Episodes collected in this iteration'),
  'rollout/scored': metric('episodes', 'Episodes that have a reward'),
  'rollout/failed': metric('episodes', 'Episodes with a failure of the system or of a tool'),
  'rollout/failedShare': metric('1', 'Share of episodes with a failure of the system or of a tool'),
  'rollout/penalised': metric('episodes', 'Episodes that got failures.penalty instead of a reward'),
  'rollout/staleness': metric(
    'steps',
    'Optimiser steps between the weights that played and those that learn; only with async.lag',
  ),
  'rollout/retries': metric('1', 'Retries of calls and episodes'),
  'rollout/retriedTokens': metric(
    'tokens',
    'Tokens sampled in failed attempts; no other count includes them',
  ),
  'rollout/cutTokens': metric(
    'tokens',
    'Tokens of tool results and messages cut off by maxEpisodeTokens',
  ),
  'rollout/successRate': metric(
    '1',
    'Share of scored episodes that solved their task, over all trained agents',
  ),
  'rollout/rewardMean': metric('reward', 'Mean reward of scored episodes'),
  'rollout/rewardStd': metric('reward', 'Population standard deviation of the reward'),
  'rollout/turnsMean': metric('turns', 'Mean turns per episode'),
  'rollout/callsMean': metric('calls', 'Mean well-formed tool calls per episode'),
  'rollout/toolCallRate': metric('1', 'Share of episodes with at least one well-formed call'),
  'rollout/successWithoutCalls': metric(
    '1',
    'Share of scored episodes that solved their task without a well-formed call',
  ),
  'rollout/malformedCalls': metric('calls', 'Malformed calls'),
  'rollout/rejectedCalls': metric('calls', 'Calls to unknown tools or with invalid arguments'),
  'rollout/failedCalls': metric('calls', 'Calls whose tool returned an error'),
  'rollout/timedOutCalls': metric('calls', 'Calls that timed out'),
  'rollout/overlongPenaltyMean': metric(
    'reward',
    'Mean penalty for length per episode (algorithm.overlong)',
  ),
  'rollout/klMean': metric(
    'nats',
    'KL estimate that is subtracted from rewards, averaged over sampled tokens (algorithm.kl.in: reward)',
  ),
  'rollout/klPenaltyMean': metric('reward', 'Mean KL penalty per episode'),
  'rollout/sampledTokens': metric('tokens', 'Tokens sampled by the policy'),
  'rollout/contextTokens': metric('tokens', 'Tokens of all transcripts, sampled or not'),
  'rollout/readTokens': metric(
    'tokens',
    'Context tokens of all turns; a token counts once per turn',
  ),
  'rollout/lengthMean': metric('tokens', 'Mean sampled tokens per episode'),
  'rollout/lengthMax': metric('tokens', 'Maximum sampled tokens of an episode'),
  'rollout/entropyEstimate': metric(
    'nats',
    'Unbiased estimate of the entropy of the sampling distribution: -log p averaged over all sampled tokens, also in episodes without advantage or reward',
  ),
  'rollout/repetition': metric(
    '1',
    'Share of sampled 4-grams that repeat an earlier one in the same turn',
  ),
  'reward/*': metric('reward', 'Mean of one part of the reward, times its weight'),
  'score/*': metric(
    'reward',
    'One reward before weighting, averaged over the episodes that it applies to',
  ),
  'scoreApplies/*': metric('1', 'Share of scored episodes that a reward applies to'),
  'combine/weight/*': metric('1', 'Mean weight that the reward manager gives a reward'),
  'agentReward/*': metric('reward', 'Mean reward of one agent, where an episode has several'),
  'agentSuccess/*': metric(
    '1',
    'Share of scored episodes that one agent solved, where an episode has several',
  ),
  'outcome/*': metric('episodes', 'Episodes by outcome, for each trained agent'),
  'environment/*': metric('1', 'A number that the environment reports, averaged over episodes'),
  'answer/undecided': metric(
    'episodes',
    'Scored episodes that count as wrong because their answer could not be parsed or compared',
  ),
  'group/count': metric('groups', 'Groups collected'),
  'group/zeroVariance': metric(
    'groups',
    'Groups whose rewards are all equal and give no training signal',
  ),
  'group/allRight': metric('groups', 'Groups in which every scored episode solved the task'),
  'group/allWrong': metric('groups', 'Groups in which no scored episode solved the task'),
  'group/resampled': metric(
    'groups',
    'Groups sampled to replace groups that algorithm.selection rejected',
  ),
  'group/leftOut': metric('episodes', 'Scored episodes to which the reward manager gave no reward'),
  'ledger/*': metric(
    'tokens',
    'Sampled tokens in each bucket of the ledger; the sum is rollout/sampledTokens',
  ),
  'gateway/deliveredShare': metric(
    '1',
    'Share of turns whose answer reached the agent; only for agents that run their own loop, like the other requests/ metrics',
  ),
  'gateway/replayed': metric('requests', 'Repeated requests that got the recorded answer again'),
  'gateway/sequences': metric('sequences', 'Mean sequences per episode'),
  'gateway/drift/*': metric('turns', 'Model turns that clients changed, by kind of change'),
  'gateway/ignored/*': metric('requests', 'Requests with a field that had no effect'),
  'train/updatedTokens': metric(
    'tokens',
    'Tokens of the sequences in the update, counted once per pass',
  ),
  'train/loss': metric('1', 'Loss of the step'),
  'policyLoss/*': metric('1', 'Loss of the step of each named policy that is trained'),
  'policyGradNorm/*': metric('1', 'Gradient norm of each named policy that is trained'),
  'policyKl/*': metric('nats', 'As sent/kl, of each named policy that is trained'),
  'sent/kl': metric('nats', 'Mean estimate of the KL divergence from the initial weights'),
  'sent/teacherKl': metric(
    'nats',
    'Mean of log policy minus log teacher over the tokens sent to the learner: an estimate of the KL divergence from the teacher',
  ),
  'sent/distillKl': metric(
    'nats',
    "Mean KL divergence from the teacher over the teacher's likeliest tokens and all others as one",
  ),
  'sent/distillTailFloored': metric(
    '1',
    'Share of tokens where the likeliest tokens had all of the probability: the rest was taken for 1e-6',
  ),
  'sent/entropy': metric('nats', 'Mean entropy of the policy at the trained tokens'),
  'sent/ratio': metric('1', 'Mean ratio of new to old probability'),
  'sent/ratioTail': metric(
    '1',
    'Share of tokens whose ratio is above 2 or below 1/2 before the last pass of the update',
  ),
  'sent/oldPolicyKl': metric('nats', 'Mean of log(old probability) - log(new probability)'),
  'sent/guarded': metric(
    '1',
    'Share of tokens without gradient because their ratio would overflow',
  ),
  'sent/clipFraction': metric('1', 'Share of tokens whose ratio was clipped'),
  'correction/factorMean': metric('1', 'Mean factor of algorithm.correction per trained token'),
  'correction/maskedShare': metric('1', 'Share of trained tokens whose correction factor is 0'),
  'sent/dualClipFraction': metric('1', 'Share of tokens whose loss was bounded by the dual clip'),
  'sent/*': metric('1', 'Any other number that the loss measures, averaged over tokens'),
  'sent/advantageMean': metric('1', 'Mean advantage'),
  'sent/advantageStd': metric('1', 'Standard deviation of the advantages'),
  'train/gradNorm': metric('1', 'Global norm of the gradient before clipping'),
  'train/parameterNorm': metric('1', 'Global norm of the weights'),
  'train/learningRate': metric('1', 'Learning rate of the last optimiser step'),
  'train/optimizerSteps': metric('steps', 'Optimiser steps so far'),
  'train/trainedTokens': metric('tokens', 'Tokens with a nonzero weight in the loss'),
  'train/microBatches': metric('batches', 'Forward and backward passes'),
  'train/computedPerToken': metric(
    '1',
    'Tokens that the update computed, divided by the tokens of its sequences. Padding raises the value; shared prefixes (train.prefixTrees) lower it',
  ),
  'train/accuracy': metric('1', 'Share of trained tokens that the model rated most likely (sft)'),
  'parity/maxAbsLogProbGap': metric('nats', 'Largest |log p(rollout) - log p(train)| of a token'),
  'parity/meanAbsLogProbGap': metric('nats', 'Mean |log p(rollout) - log p(train)|'),
  'eval/tasks': metric('tasks', 'Held-out tasks attempted'),
  'eval/attempts': metric('episodes', 'Scored attempts'),
  'eval/successes': metric('episodes', 'Attempts that solved their task'),
  'eval/successRate': metric('1', 'Share of attempts that solved their task'),
  'eval/intervalLow': metric(
    '1',
    'Lower end of the 95 % interval of eval/successRate, by cluster bootstrap',
  ),
  'eval/intervalHigh': metric(
    '1',
    'Upper end of the 95 % interval of eval/successRate, by cluster bootstrap',
  ),
  'eval/wilsonLow': metric(
    '1',
    'Lower end of the Wilson 95 % interval of eval/successRate, as if attempts were independent',
  ),
  'eval/wilsonHigh': metric(
    '1',
    'Upper end of the Wilson 95 % interval of eval/successRate, as if attempts were independent',
  ),
  'eval/failedShare': metric(
    '1',
    'Share of attempts lost to system failures; eval/successRate leaves them out',
  ),
  'eval/worstCaseLow': metric('1', 'The success rate if all lost attempts counted as wrong'),
  'eval/worstCaseHigh': metric('1', 'The success rate if all lost attempts counted as right'),
  'eval/difference': metric(
    '1',
    'Change in the success rate since before training, over the tasks scored at both times',
  ),
  'eval/differenceLow': metric(
    '1',
    'Lower end of the 95 % interval of eval/difference, by paired cluster bootstrap',
  ),
  'eval/differenceHigh': metric(
    '1',
    'Upper end of the 95 % interval of eval/difference, by paired cluster bootstrap',
  ),
  'eval/rewardMean': metric('reward', 'Mean reward of attempts'),
  'eval/strategySuccessRate': metric(
    '1',
    'Share of tasks solved by the attempt that eval.strategy chose (best-of-n and majority)',
  ),
  'eval/strategyIntervalLow': metric(
    '1',
    'Lower end of the 95 % interval of eval/strategySuccessRate, by cluster bootstrap',
  ),
  'eval/strategyIntervalHigh': metric(
    '1',
    'Upper end of the 95 % interval of eval/strategySuccessRate, by cluster bootstrap',
  ),
  'eval/score/*': metric(
    'reward',
    'One reward before weighting, averaged over the episodes that it applies to',
  ),
  'eval/group/*': metric(
    '1',
    'Success rate on one group of held-out tasks, or of one agent where an episode has several',
  ),
  'eval/environment/*': metric(
    '1',
    'A number that the environment reports, averaged over attempts',
  ),
  'selection/tasks': metric(
    'tasks',
    'Selection tasks, which choose the best checkpoint (checkpoint.keepBest)',
  ),
  'selection/attempts': metric('episodes', 'Scored attempts at selection tasks'),
  'selection/successRate': metric(
    '1',
    'Share of attempts at selection tasks that solved their task',
  ),
  'selection/intervalLow': metric(
    '1',
    'Lower end of the 95 % interval of selection/successRate, by cluster bootstrap',
  ),
  'selection/intervalHigh': metric(
    '1',
    'Upper end of the 95 % interval of selection/successRate, by cluster bootstrap',
  ),
  'selection/failedShare': metric(
    '1',
    'Share of attempts at selection tasks lost to system failures',
  ),
  'seconds/*': metric(
    's',
    'Seconds spent on one activity in this iteration; for generation, tools and grading, the sum over parallel episodes',
  ),
  'busy/*': metric('1', 'Share of the iteration spent on one activity'),
  'speed/decodeTokensPerSecond': metric(
    'tokens/s',
    'Sampled tokens per second of collection, including tools and grading',
  ),
  'speed/trainTokensPerSecond': metric('tokens/s', 'Trained tokens per second of the update'),
  'speed/episodesPerSecond': metric('episodes/s', 'Episodes per second of collection'),
  'system/rssBytes': metric('B', 'Resident memory of the process tree'),
  'system/peakRssBytes': metric('B', 'Highest resident memory of the process tree so far'),
  'system/cpuSeconds': metric('s', 'Processor seconds of the process tree so far'),
} as const satisfies Readonly<Record<string, MetricDefinition>>;

const definitions: Readonly<Record<string, MetricDefinition>> = metricNames;

/** The definition of a metric, its family's when it belongs to one, or `undefined`. */
export function metricDefinition(name: string): MetricDefinition | undefined {
  if (Object.hasOwn(definitions, name) && !name.endsWith('*')) return definitions[name];
  for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1)) {
    const family = `${name.slice(0, end)}/*`;
    if (Object.hasOwn(definitions, family) && name.length > end + 1) return definitions[family];
  }
  return undefined;
}

type Names = keyof typeof metricNames;
type Member<Name extends string> = Name extends `${infer Family}*` ? `${Family}${string}` : Name;

/** Name of a metric that is defined, or a member of a family that is. */
export type MetricName = Member<Names>;

/** Numbers by metric name; undefined what was not measured. */
export type Metrics = Readonly<Partial<Record<MetricName, number | undefined>>>;

/** What has a value: a metric that was not measured is absent, never 0. */
export const measured = (
  values: Readonly<Partial<Record<MetricName, number | null | undefined>>>,
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === 'number' ? [[name, value]] : [],
    ),
  );
