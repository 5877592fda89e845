/** What a metric means. */
export interface MetricDefinition {
  /** `1` for shares and pure numbers. */
  unit: string;
  description: string;
}

const metric = (unit: string, description: string): MetricDefinition => ({ unit, description });

/**
 * Every metric by name. A name that ends in `*` stands for a family whose members come from a run's plugins.
 * Means over episodes leave out those the system failed. Those of `sent/*` are over the sampled tokens sent to the
 * learner, each weighted as in the loss: episodes without advantage are not sent unless a KL term pulls on them. Where an
 * episode has several agents, members of families of rewards, scores and of the environment begin with the agent's name, and agents
 * that do not learn are left out of all others but the counts of tokens.
 */
export const metricNames = {
  'rollout/episodes': metric('episodes', 'Episodes collected in this iteration'),
  'rollout/scored': metric('episodes', 'Episodes that have a reward'),
  'rollout/failed': metric(
    'episodes',
    'Episodes that the system failed, or one of whose tools did',
  ),
  'rollout/failedShare': metric(
    '1',
    'Share of episodes that the system, or one of their tools, failed',
  ),
  'rollout/penalised': metric(
    'episodes',
    'Episodes with failures.penalty in place of their reward',
  ),
  'rollout/retries': metric('1', 'Times that a call or an episode was tried again'),
  'rollout/retriedTokens': metric(
    'tokens',
    'Tokens sampled in attempts that failed, in no other count',
  ),
  'rollout/cutTokens': metric(
    'tokens',
    'Tokens of tool results and messages for which maxEpisodeTokens had no room',
  ),
  'rollout/successRate': metric(
    '1',
    'Share of scored episodes that solved their task, for all agents that learn',
  ),
  'rollout/rewardMean': metric('reward', 'Mean reward of scored episodes'),
  'rollout/rewardStd': metric('reward', 'Population standard deviation of the reward'),
  'rollout/turnsMean': metric('turns', 'Mean turns of an episode'),
  'rollout/callsMean': metric('calls', 'Mean well-formed tool calls of an episode'),
  'rollout/toolCallRate': metric('1', 'Share of episodes with at least one well-formed call'),
  'rollout/successWithoutCalls': metric(
    '1',
    'Share of scored episodes that solved their task without a well-formed call',
  ),
  'rollout/malformedCalls': metric('calls', 'Calls that could not be read'),
  'rollout/rejectedCalls': metric('calls', 'Calls of unknown tools or with invalid arguments'),
  'rollout/failedCalls': metric('calls', 'Calls whose tool answered with an error'),
  'rollout/timedOutCalls': metric('calls', 'Calls that passed their deadline'),
  'rollout/overlongPenaltyMean': metric(
    'reward',
    'Mean of what episodes lost for their length (algorithm.overlong)',
  ),
  'rollout/klMean': metric(
    'nats',
    'Mean over sampled tokens of the KL estimate that is taken off rewards (algorithm.kl.in: reward)',
  ),
  'rollout/klPenaltyMean': metric('reward', 'Mean of what episodes lost for it'),
  'rollout/sampledTokens': metric('tokens', 'Tokens the policy sampled'),
  'rollout/contextTokens': metric('tokens', 'Tokens of all transcripts, sampled or not'),
  'rollout/readTokens': metric(
    'tokens',
    'Tokens in the contexts that turns were sampled in, each turn counted anew',
  ),
  'rollout/lengthMean': metric('tokens', 'Mean sampled tokens of an episode'),
  'rollout/lengthMax': metric('tokens', 'Most sampled tokens of an episode'),
  'rollout/entropyEstimate': metric(
    'nats',
    'Mean of -log p over all sampled tokens, episodes without advantage or reward included: an unbiased estimate of the entropy of what was sampled from',
  ),
  'rollout/repetition': metric(
    '1',
    'Share of sampled 4-grams that occurred before in the same turn',
  ),
  'reward/*': metric('reward', 'Mean of one part of the reward, times its weight'),
  'score/*': metric('reward', 'Mean of one reward before any weight, where it applies'),
  'scoreApplies/*': metric('1', 'Share of scored episodes that a reward applies to'),
  'combine/weight/*': metric('1', 'Mean weight that the reward manager gives a reward'),
  'agentReward/*': metric('reward', 'Mean reward of one of several agents'),
  'agentSuccess/*': metric('1', 'Share of scored episodes that one of several agents solved'),
  'outcome/*': metric('episodes', 'Episodes that ended so, for each of several agents that learn'),
  'environment/*': metric('1', 'Mean of a number the environment reports'),
  'answer/undecided': metric(
    'episodes',
    'Scored episodes whose answer could not be read or compared: it counts as wrong',
  ),
  'group/count': metric('groups', 'Groups collected'),
  'group/zeroVariance': metric('groups', 'Groups whose rewards are all equal: they teach nothing'),
  'group/allRight': metric('groups', 'Groups whose every episode with a reward solved the task'),
  'group/allWrong': metric('groups', 'Groups none of whose episodes with a reward solved the task'),
  'group/resampled': metric(
    'groups',
    'Groups drawn in place of ones that algorithm.selection wanted played again',
  ),
  'group/leftOut': metric(
    'episodes',
    'Episodes with a reward of their own that the reward manager gave none',
  ),
  'ledger/*': metric('tokens', 'Sampled tokens that ended so; the sum is rollout/sampledTokens'),
  'gateway/deliveredShare': metric(
    '1',
    'Share of turns whose answer reached an agent with a loop of its own; this and the next are of runs with such agents alone',
  ),
  'gateway/replayed': metric('requests', 'Requests answered again with what was recorded'),
  'gateway/sequences': metric('sequences', 'Mean sequences of an episode'),
  'gateway/drift/*': metric('turns', 'Turns of the model that clients changed so'),
  'gateway/ignored/*': metric('requests', 'Requests with a field that had no effect'),
  'train/updatedTokens': metric(
    'tokens',
    'Tokens of the sequences that went through the update, once for each pass',
  ),
  'train/loss': metric('1', 'Loss over the step'),
  'sent/kl': metric('nats', 'Mean estimate of the divergence from the starting weights'),
  'sent/entropy': metric('nats', 'Mean entropy of the policy where these tokens were sampled'),
  'sent/ratio': metric('1', 'Mean ratio of new to old probability'),
  'sent/ratioTail': metric(
    '1',
    'Share whose ratio is above 2 or below 1/2 before the last pass of the update',
  ),
  'sent/oldPolicyKl': metric('nats', 'Mean of log old policy - log policy'),
  'sent/guarded': metric(
    '1',
    'Share whose log-probabilities differ too much for exp; they have no gradient',
  ),
  'sent/clipFraction': metric('1', 'Share whose ratio was clipped'),
  'correction/factorMean': metric(
    '1',
    'Mean factor that algorithm.correction gives a trained token',
  ),
  'correction/maskedShare': metric('1', 'Share of trained tokens whose factor is 0'),
  'sent/dualClipFraction': metric('1', 'Share whose cost was bounded by the dual clip'),
  'sent/*': metric('1', 'Mean of another number that the loss measures'),
  'sent/advantageMean': metric('1', 'Mean advantage'),
  'sent/advantageStd': metric('1', 'Standard deviation of the advantage'),
  'train/gradNorm': metric('1', 'Global norm of the gradient before clipping'),
  'train/parameterNorm': metric('1', 'Global norm of the weights'),
  'train/learningRate': metric('1', 'Learning rate of the last optimiser step'),
  'train/optimizerSteps': metric('steps', 'Optimiser steps so far'),
  'train/trainedTokens': metric('tokens', 'Tokens with a weight in the loss'),
  'train/microBatches': metric('batches', 'Forward and backward passes'),
  'train/computedPerToken': metric(
    '1',
    'Tokens that the update computes by those of its sequences: above 1 by padding, less where common beginnings are computed once (train.prefixTrees)',
  ),
  'train/accuracy': metric('1', 'Share of trained tokens that were the likeliest (sft)'),
  'parity/maxAbsLogProbGap': metric('nats', 'Largest |log p(rollout) - log p(train)| of a token'),
  'parity/meanAbsLogProbGap': metric('nats', 'Mean |log p(rollout) - log p(train)|'),
  'eval/tasks': metric('tasks', 'Held-out tasks attempted'),
  'eval/attempts': metric('episodes', 'Attempts that have a verdict'),
  'eval/successes': metric('episodes', 'Attempts that solved their task'),
  'eval/successRate': metric('1', 'Share of attempts that solved their task'),
  'eval/intervalLow': metric(
    '1',
    'Lower end of the 95 % interval of the rate, by cluster bootstrap',
  ),
  'eval/intervalHigh': metric(
    '1',
    'Upper end of the 95 % interval of the rate, by cluster bootstrap',
  ),
  'eval/wilsonLow': metric(
    '1',
    'Lower end of the Wilson 95 % interval, as if attempts were independent',
  ),
  'eval/wilsonHigh': metric(
    '1',
    'Upper end of the Wilson 95 % interval, as if attempts were independent',
  ),
  'eval/failedShare': metric(
    '1',
    'Share of attempts that the system failed: they are not in the rate',
  ),
  'eval/worstCaseLow': metric('1', 'The rate if all those attempts had failed their task'),
  'eval/worstCaseHigh': metric('1', 'The rate if all those attempts had solved it'),
  'eval/difference': metric('1', 'The rate less that before training, over tasks judged in both'),
  'eval/differenceLow': metric('1', 'Lower end of its 95 % interval, by paired cluster bootstrap'),
  'eval/differenceHigh': metric('1', 'Upper end of its 95 % interval, by paired cluster bootstrap'),
  'eval/rewardMean': metric('reward', 'Mean reward of attempts'),
  'eval/strategySuccessRate': metric(
    '1',
    'Share of tasks that the attempt which eval.strategy chose solved; with best-of-n and majority',
  ),
  'eval/strategyIntervalLow': metric('1', 'Lower end of its 95 % interval, by cluster bootstrap'),
  'eval/strategyIntervalHigh': metric('1', 'Upper end of its 95 % interval, by cluster bootstrap'),
  'eval/score/*': metric('reward', 'Mean of one reward before any weight, where it applies'),
  'eval/group/*': metric(
    '1',
    'Success rate of one group of held-out tasks, or of one of several agents',
  ),
  'eval/environment/*': metric('1', 'Mean of what the environment counts in one attempt'),
  'selection/tasks': metric(
    'tasks',
    'Tasks the best checkpoint is chosen by (checkpoint.keepBest)',
  ),
  'selection/attempts': metric('episodes', 'Attempts at them that have a verdict'),
  'selection/successRate': metric('1', 'Share of those that solved their task'),
  'selection/intervalLow': metric('1', 'Lower end of its 95 % interval, by cluster bootstrap'),
  'selection/intervalHigh': metric('1', 'Upper end of its 95 % interval, by cluster bootstrap'),
  'selection/failedShare': metric('1', 'Share of attempts at them that the system failed'),
  'seconds/*': metric(
    's',
    'Seconds spent on one activity in this iteration; of generation, tools and grading the sum over all episodes, which run at once',
  ),
  'busy/*': metric('1', 'Share of the iteration spent on one activity'),
  'speed/decodeTokensPerSecond': metric(
    'tokens/s',
    'Sampled tokens by seconds of collection, tools and judging included',
  ),
  'speed/trainTokensPerSecond': metric('tokens/s', 'Tokens through the update by its seconds'),
  'speed/episodesPerSecond': metric('episodes/s', 'Episodes by seconds of collection'),
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
