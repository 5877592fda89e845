import { mean, standardDeviation, sum } from '../../algorithms/statistics.ts';
import { type Outcome, outcomes } from '../../core/outcome.ts';
import { episodesOf, isSolved, learnersIn, type Trajectory } from '../../core/trajectory.ts';
import { sampledTokens } from '../../rollout/tokens/ledger.ts';
import { sampling } from '../../rollout/tokens/token-counts.ts';
import { repetitionOf } from '../../rollout/tokens/repetition.ts';
import type { Metrics } from '../../telemetry/metric-names.ts';
import { inFamily, meansByName, type NamedNumbers, sideBySide } from '../named-numbers.ts';
import { type Collection, trajectoriesOf } from './collect-groups.ts';
import { countFailures } from './failure-guard.ts';
import { largest } from '../../core/long-lists.ts';

/**
 * Numbers of one collection. Means over episodes leave out those the system failed; a mean of none is absent. Agents that do
 * not learn are left out of all but the counts of tokens and what is named by agent.
 */
export function rolloutMetrics(collection: Collection): Metrics {
  const groups = learnersIn(collection.groups);
  const discarded = learnersIn(collection.discarded);
  const all = trajectoriesOf(collection);
  const learners = learnersIn(all);
  const episodes = episodesOf(all);
  const scored = episodes.filter((episode) => episode.every(({ reward }) => reward !== undefined));
  const statuses = learners.flatMap(({ calls }) => calls.map(({ status }) => status));
  const withStatus = (wanted: string): number =>
    statuses.filter((status) => status === wanted).length;
  const judged = groups
    .map(({ trajectories }) => trajectories.filter(({ reward }) => reward !== undefined))
    .filter(({ length }) => length > 0);
  return {
    'rollout/episodes': episodes.length,
    'rollout/scored': scored.length,
    ...failureMetrics(groups, episodes),
    ...entropyEstimate(learners),
    ...repetition(learners),
    ...(scored.length > 0 && scoredMetrics(scored)),
    'rollout/malformedCalls': sum(learners.map(({ malformedCalls }) => malformedCalls)),
    'rollout/rejectedCalls': withStatus('rejected'),
    'rollout/failedCalls': withStatus('error'),
    'rollout/timedOutCalls': withStatus('timeout'),
    'rollout/sampledTokens': sum(all.map(sampledTokens)),
    'rollout/contextTokens': sum(all.map(({ tokens }) => tokens.length)),
    'rollout/readTokens': sum(all.map((trajectory) => sampling(trajectory).read)),
    'rollout/lengthMax': largest(learners.map(sampledTokens), 0),
    ...outcomeCounts(learners),
    'group/count': groups.length,
    'group/zeroVariance': groups.filter(({ zeroVariance }) => zeroVariance).length,
    'group/allRight': judged.filter((group) => group.every(({ success }) => success)).length,
    'group/allWrong': judged.filter((group) => !group.some(({ success }) => success)).length,
    'group/resampled': discarded.length,
    ...overlongMetric(groups),
    ...klMetrics(groups),
    'group/leftOut': sum(groups.map(({ leftOut = 0 }) => leftOut)),
    ...inFamily(
      'combine/weight',
      meansByName(
        groups.flatMap(({ weights }) => (weights ? [weights] : [])),
        0,
      ),
    ),
  };
}

/** Only where long episodes lose something. */
function overlongMetric(groups: Collection['groups']): Metrics {
  const lost = groups.flatMap(({ overlong }) => overlong ?? []);
  const episodes = sum(groups.map(({ trajectories }) => trajectories.length));
  return lost.length === 0 || episodes === 0
    ? {}
    : { 'rollout/overlongPenaltyMean': sum(lost) / episodes };
}

/** Only where KL is taken off rewards: over the episodes that have one. */
function klMetrics(groups: Collection['groups']): Metrics {
  const taken = groups.flatMap(({ kl }) => kl ?? []);
  const rewarded = groups.flatMap(({ trajectories, rewards }) =>
    trajectories.filter((_, member) => rewards[member] !== undefined),
  );
  const tokens = sum(rewarded.map(sampledTokens));
  if (taken.length === 0 || tokens === 0) return {};
  return {
    'rollout/klMean': sum(taken.map(({ nats }) => nats)) / tokens,
    'rollout/klPenaltyMean': sum(taken.map(({ lost }) => lost)) / rewarded.length,
  };
}

function failureMetrics(
  groups: Collection['groups'],
  played: readonly (readonly Trajectory[])[],
): Metrics {
  const all = played.flat();
  const { episodes, failed } = countFailures(all);
  // An attempt at an episode is one of all its agents.
  const retried = played.map(
    (episode) =>
      sum(episode.map(({ retries = [] }) => retries.length)) +
      (episode[0]?.failedAttempts ?? []).length,
  );
  const lost = all.flatMap(({ failedAttempts = [] }) => failedAttempts);
  return {
    'rollout/failed': failed,
    ...(episodes > 0 && { 'rollout/failedShare': failed / episodes }),
    'rollout/penalised': sum(groups.map(({ penalised = 0 }) => penalised)),
    'rollout/retries': sum(retried) + sum(groups.map(({ retries = 0 }) => retries)),
    'rollout/retriedTokens': sum(lost.map(({ sampledTokens: tokens }) => tokens)),
    'rollout/cutTokens': sum(all.map(({ cutTokens = 0 }) => cutTokens)),
  };
}

/**
 * Over every sampled token, whatever became of its episode: -log p of a draw has the entropy of what it was drawn from
 * as its expectation. Entropy falls where groups agree, which is where nothing is sent to the learner.
 */
function entropyEstimate(trajectories: readonly Trajectory[]): Metrics {
  let tokens = 0;
  let total = 0;
  for (const { spans, logProbs } of trajectories) {
    for (const { start, end } of spans.filter(({ source }) => source === 'sampled')) {
      tokens += end - start;
      for (let place = start; place < end; place++) total -= logProbs[place] ?? Number.NaN;
    }
  }
  return tokens === 0 ? {} : { 'rollout/entropyEstimate': total / tokens };
}

/** Absent where no turn has four tokens. */
function repetition(trajectories: readonly Trajectory[]): Metrics {
  const counts = trajectories.map(repetitionOf);
  const fourGrams = sum(counts.map((one) => one.fourGrams));
  if (fourGrams === 0) return {};
  return { 'rollout/repetition': sum(counts.map(({ repeated }) => repeated)) / fourGrams };
}

/** Those that a tool ran. */
const callsOf = ({ calls }: Trajectory): number =>
  calls.filter(({ status }) => status !== 'rejected').length;

/** Of episodes; what is of a transcript, such as its length, over those of all agents that learn. */
function scoredMetrics(episodes: readonly (readonly Trajectory[])[]): Metrics {
  const scored = episodes.flatMap(learnersIn);
  const rewards = scored.map(({ reward }) => reward ?? 0);
  const ran = scored.map(callsOf);
  const withoutCalls = episodes.filter(
    (episode) => isSolved(episode) && learnersIn(episode).every((one) => callsOf(one) === 0),
  );
  const means = (of: (one: Trajectory) => NamedNumbers, lacking?: 0) =>
    meansByName(
      episodes.map((episode) => sideBySide(episode, of)),
      lacking,
    );
  return {
    'rollout/successRate': mean(episodes.map((episode) => Number(isSolved(episode)))),
    'rollout/rewardMean': mean(rewards),
    'rollout/rewardStd': standardDeviation(rewards),
    'rollout/turnsMean': mean(scored.map(({ turns }) => turns)),
    'rollout/callsMean': mean(ran),
    'rollout/toolCallRate': mean(ran.map((calls) => Number(calls > 0))),
    'rollout/successWithoutCalls': withoutCalls.length / episodes.length,
    'rollout/lengthMean': mean(scored.map(sampledTokens)),
    ...undecidedMetric(scored),
    ...inFamily(
      'reward',
      means(({ components }) => components, 0),
    ),
    ...inFamily(
      'score',
      means(({ scores = {} }) => scores),
    ),
    ...inFamily(
      'scoreApplies',
      means(({ scores = {} }) => applying(scores), 0),
    ),
    ...inFamily(
      'environment',
      means(({ metrics }) => metrics, 0),
    ),
    ...agentMetrics(episodes),
  };
}

/** The sum of what environments count as `undecided`; absent where no answers are compared. */
function undecidedMetric(scored: readonly Trajectory[]): Metrics {
  const counts = scored.flatMap(({ metrics }) => metrics['undecided'] ?? []);
  return counts.length === 0 ? {} : { 'answer/undecided': sum(counts) };
}

const applying = (scores: NamedNumbers): NamedNumbers =>
  Object.fromEntries(Object.keys(scores).map((name) => [name, 1]));

/** Only where episodes have several agents. */
function agentMetrics(episodes: readonly (readonly Trajectory[])[]): Metrics {
  const named = (of: (one: Trajectory) => number) =>
    meansByName(
      episodes.map((episode) =>
        Object.fromEntries(
          episode.flatMap((one) => (one.agent === undefined ? [] : [[one.agent, of(one)]])),
        ),
      ),
    );
  return {
    ...inFamily(
      'agentReward',
      named(({ reward = 0 }) => reward),
    ),
    ...inFamily(
      'agentSuccess',
      named(({ success }) => Number(success)),
    ),
  };
}

function outcomeCounts(trajectories: readonly Trajectory[]): Metrics {
  const ended = (outcome: Outcome) => trajectories.filter((one) => one.outcome === outcome).length;
  return Object.fromEntries(outcomes.map((outcome) => [`outcome/${outcome}`, ended(outcome)]));
}
