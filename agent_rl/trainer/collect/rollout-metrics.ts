import { mean, standardDeviation, sum } from '../../algorithms/statistics.ts';
import { type Outcome, outcomes } from '../../core/outcome.ts';
import {
  drawnTokens,
  isJudged,
  isSolved,
  learnersIn,
  type Part,
  type Rollout,
  sampledTokens,
} from '../../core/rollout.ts';
import { drawnSpans } from '../../core/transcript.ts';
import { sampling } from '../../rollout/tokens/token-counts.ts';
import { repetitionOf } from '../../rollout/tokens/repetition.ts';
import type { Metrics } from '../../telemetry/metric-names.ts';
import { inFamily, meansByName, type NamedNumbers, sideBySide } from '../named-numbers.ts';
import { type Collection, type Group, membersIn, rolloutsIn } from './collection.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import { countFailures } from './failure-guard.ts';
import { largest } from '../../core/long-lists.ts';

/**
 * Metrics of one collection. Means over rollouts exclude system failures; a mean of no values is undefined. Agents that
 * do not learn only count in token counts and metrics by agent.
 */
export function rolloutMetrics(collection: Collection): Metrics {
  const groups = learnersIn(collection.groups.flat());
  const discarded = learnersIn(collection.discarded.flat());
  const all = membersIn(collection).map(({ part }) => part);
  const learners = learnersIn(all);
  const rollouts = rolloutsIn(collection);
  const scored = rollouts.filter(isJudged);
  const statuses = learners.flatMap(({ calls }) => calls.map(({ status }) => status));
  const withStatus = (wanted: string): number =>
    statuses.filter((status) => status === wanted).length;
  const judged = groups
    .map(({ members }) => members.filter(({ part }) => part.reward !== undefined))
    .filter(({ length }) => length > 0);
  return {
    'rollout/episodes': rollouts.length,
    'rollout/scored': scored.length,
    ...failureMetrics(groups, rollouts),
    'rollout/entropyEstimate': entropyEstimate(learners),
    'rollout/repetition': repetition(learners),
    ...(scored.length === 0 ? {} : scoredMetrics(scored)),
    'rollout/malformedCalls': sum(learners.map(({ malformedCalls }) => malformedCalls)),
    'rollout/rejectedCalls': withStatus('rejected'),
    'rollout/failedCalls': withStatus('error'),
    'rollout/timedOutCalls': withStatus('timeout'),
    'rollout/sampledTokens': sum(all.map(drawnTokens)),
    'rollout/contextTokens': sum(
      all.flatMap(({ sequences }) => sequences.map(({ tokens }) => tokens.length)),
    ),
    'rollout/readTokens': sum(all.map((part) => sampling(part).read)),
    'rollout/lengthMax': largest(learners.map(sampledTokens), 0),
    ...outcomeCounts(learners),
    ...gatewayMetrics(all),
    'group/count': groups.length,
    'group/zeroVariance': groups.filter(({ zeroVariance }) => zeroVariance).length,
    'group/allRight': judged.filter((group) => group.every(({ part }) => part.success)).length,
    'group/allWrong': judged.filter((group) => !group.some(({ part }) => part.success)).length,
    'group/resampled': discarded.length,
    'rollout/overlongPenaltyMean': overlongPenalty(groups),
    ...klMetrics(groups),
    'group/leftOut': sum(groups.map(({ leftOut }) => leftOut)),
    ...inFamily(
      'combine/weight',
      meansByName(
        groups.flatMap(({ weights }) => (weights ? [weights] : [])),
        0,
      ),
    ),
  };
}

/** Only with a length penalty. */
function overlongPenalty(groups: readonly Group[]): number | undefined {
  const lost = groups.flatMap(({ overlong }) => overlong ?? []);
  const parts = sum(groups.map(({ members }) => members.length));
  return lost.length === 0 || parts === 0 ? undefined : sum(lost) / parts;
}

/** Only with a KL penalty in the reward: over the episodes with a reward. */
function klMetrics(groups: readonly Group[]): Metrics {
  const taken = groups.flatMap(({ kl }) => kl ?? []);
  const rewarded = groups.flatMap(({ members, rewards }) =>
    members.filter((_, member) => rewards[member] !== undefined),
  );
  const tokens = sum(rewarded.map(({ part }) => sampledTokens(part)));
  if (taken.length === 0 || tokens === 0) return {};
  return {
    'rollout/klMean': sum(taken.map(({ nats }) => nats)) / tokens,
    'rollout/klPenaltyMean': sum(taken.map(({ lost }) => lost)) / rewarded.length,
  };
}

function failureMetrics(groups: readonly Group[], rollouts: readonly Rollout[]) {
  const { episodes, failed } = countFailures(rollouts);
  const parts = rollouts.flatMap((rollout) => rollout.parts);
  const lost = rollouts.flatMap(({ failedAttempts }) => failedAttempts);
  const retried = sum(parts.map(({ retries }) => retries.length)) + lost.length;
  return {
    'rollout/failed': failed,
    'rollout/failedShare': episodes === 0 ? undefined : failed / episodes,
    'rollout/penalised': sum(groups.map(({ penalised }) => penalised)),
    'rollout/retries': retried + sum(groups.map(({ retries }) => retries)),
    'rollout/retriedTokens': sum(lost.map(({ sampledTokens: tokens }) => tokens)),
    'rollout/cutTokens': sum(parts.map(({ cutTokens }) => cutTokens)),
  };
}

/**
 * Over every sampled token, however its rollout is used: the expectation of -log p is the entropy. Entropy falls in
 * groups that agree, which are not sent to the learner.
 */
function entropyEstimate(parts: readonly Part[]): number | undefined {
  let tokens = 0;
  let total = 0;
  for (const { sequences } of parts) {
    for (const [index, turns] of drawnSpans(sequences).entries()) {
      for (const { start, end } of turns) {
        tokens += end - start;
        for (let place = start; place < end; place++)
          total -= sequences[index]?.logProbs[place] ?? Number.NaN;
      }
    }
  }
  return tokens === 0 ? undefined : total / tokens;
}

/** Absent if no turn has four tokens. */
function repetition(parts: readonly Part[]): number | undefined {
  const counts = parts.map(repetitionOf);
  const fourGrams = sum(counts.map((one) => one.fourGrams));
  return fourGrams === 0 ? undefined : sum(counts.map(({ repeated }) => repeated)) / fourGrams;
}

/** Calls that a tool ran. */
const callsOf = ({ calls }: Part): number =>
  calls.filter(({ status }) => status !== 'rejected').length;

/** Of rollouts; metrics of parts, such as length, are over all learning agents. */
function scoredMetrics(rollouts: readonly Rollout[]) {
  const scored = rollouts.flatMap(({ parts }) => learnersIn(parts));
  const rewards = scored.map(({ reward }) => reward ?? 0);
  const ran = scored.map(callsOf);
  const withoutCalls = rollouts.filter(
    (one) => isSolved(one) && learnersIn(one.parts).every((part) => callsOf(part) === 0),
  );
  const means = (of: (part: Part) => NamedNumbers, lacking?: 0) =>
    meansByName(
      rollouts.map((one) => sideBySide(one, of)),
      lacking,
    );
  return {
    'rollout/successRate': mean(rollouts.map((one) => Number(isSolved(one)))),
    'rollout/rewardMean': mean(rewards),
    'rollout/rewardStd': standardDeviation(rewards),
    'rollout/turnsMean': mean(scored.map(({ turns }) => turns)),
    'rollout/callsMean': mean(ran),
    'rollout/toolCallRate': mean(ran.map((calls) => Number(calls > 0))),
    'rollout/successWithoutCalls': withoutCalls.length / rollouts.length,
    'rollout/lengthMean': mean(scored.map(sampledTokens)),
    'answer/undecided': undecided(scored),
    ...inFamily(
      'reward',
      means(({ components }) => components, 0),
    ),
    ...inFamily(
      'score',
      means(({ scores }) => scores),
    ),
    ...inFamily(
      'scoreApplies',
      means(({ scores }) => applying(scores), 0),
    ),
    ...inFamily(
      'environment',
      means(({ metrics }) => metrics, 0),
    ),
    ...agentMetrics(rollouts),
  };
}

/** The sum of the environments' `undecided`; absent if no answers are compared. */
function undecided(scored: readonly Part[]): number | undefined {
  const counts = scored.flatMap(({ metrics }) => metrics['undecided'] ?? []);
  return counts.length === 0 ? undefined : sum(counts);
}

const applying = (scores: NamedNumbers): NamedNumbers =>
  Object.fromEntries(Object.keys(scores).map((name) => [name, 1]));

/** Only of rollouts with several parts. */
function agentMetrics(rollouts: readonly Rollout[]): Metrics {
  const several = rollouts.filter(({ parts }) => parts.length > 1);
  const named = (of: (part: Part) => number) =>
    meansByName(
      several.map(({ parts }) => Object.fromEntries(parts.map((part) => [part.agent, of(part)]))),
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

function outcomeCounts(parts: readonly Part[]): Metrics {
  const ended = (outcome: Outcome) => parts.filter((one) => one.outcome === outcome).length;
  return Object.fromEntries(outcomes.map((outcome) => [`outcome/${outcome}`, ended(outcome)]));
}
