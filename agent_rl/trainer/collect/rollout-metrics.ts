import { outcomes } from '../../core/outcome.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { sampledTokens } from '../../rollout/ledger.ts';
import type { Metrics } from '../../telemetry/metric-names.ts';
import { type Collection, trajectoriesOf } from './collect-groups.ts';

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

/** Numbers of one collection. Means over episodes leave out those the system failed; a mean of none is absent. */
export function rolloutMetrics(collection: Collection): Metrics {
  const { groups, discarded } = collection;
  const all = trajectoriesOf(collection);
  const scored = all.filter(({ reward }) => reward !== undefined);
  const statuses = all.flatMap(({ calls }) => calls.map(({ status }) => status));
  const withStatus = (wanted: string): number =>
    statuses.filter((status) => status === wanted).length;
  const sampled = all.map(sampledTokens);
  return {
    'rollout/episodes': all.length,
    'rollout/scored': scored.length,
    ...(scored.length > 0 && scoredMetrics(scored)),
    'rollout/malformedCalls': sum(all.map(({ malformedCalls }) => malformedCalls)),
    'rollout/rejectedCalls': withStatus('rejected'),
    'rollout/failedCalls': withStatus('error'),
    'rollout/timedOutCalls': withStatus('timeout'),
    'rollout/sampledTokens': sum(sampled),
    'rollout/contextTokens': sum(all.map(({ tokens }) => tokens.length)),
    'rollout/lengthMax': Math.max(0, ...sampled),
    ...outcomeCounts(all),
    'group/count': groups.length,
    'group/zeroVariance': groups.filter(({ zeroVariance }) => zeroVariance).length,
    'group/allRight': groups.filter((group) => group.trajectories.every(({ success }) => success))
      .length,
    'group/allWrong': groups.filter((group) => !group.trajectories.some(({ success }) => success))
      .length,
    'group/resampled': discarded.length,
    ...combinationMetrics(groups),
  };
}

function scoredMetrics(scored: readonly Trajectory[]): Metrics {
  const rewards = scored.map(({ reward }) => reward ?? 0);
  const rewardMean = mean(rewards);
  const ran = scored.map(({ calls }) => calls.filter(({ status }) => status !== 'rejected').length);
  return {
    'rollout/successRate': mean(scored.map(({ success }) => Number(success))),
    'rollout/rewardMean': rewardMean,
    'rollout/rewardStd': Math.sqrt(mean(rewards.map((reward) => (reward - rewardMean) ** 2))),
    'rollout/turnsMean': mean(scored.map(({ turns }) => turns)),
    'rollout/callsMean': mean(ran),
    'rollout/toolCallRate': mean(ran.map((calls) => Number(calls > 0))),
    'rollout/lengthMean': mean(scored.map(sampledTokens)),
    ...meansByName('reward', scored, ({ components }) => components),
    ...scoreMetrics(scored),
    ...meansByName('environment', scored, ({ metrics }) => metrics),
  };
}

const own = (values: Readonly<Record<string, number>>, name: string): number | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Means over all the episodes; one that does not have a name counts as 0 in it. */
function meansByName(
  family: 'reward' | 'environment',
  trajectories: readonly Trajectory[],
  pick: (trajectory: Trajectory) => Readonly<Record<string, number>>,
): Metrics {
  const names = new Set(trajectories.flatMap((trajectory) => Object.keys(pick(trajectory))));
  return Object.fromEntries(
    [...names].map((name) => [
      `${family}/${name}`,
      mean(trajectories.map((trajectory) => own(pick(trajectory), name) ?? 0)),
    ]),
  );
}

/** Of each reward before any weight: its mean over the episodes it applies to, and their share. */
function scoreMetrics(scored: readonly Trajectory[]): Metrics {
  const names = new Set(scored.flatMap(({ scores = {} }) => Object.keys(scores)));
  const entries = [...names].flatMap((name) => {
    const given = scored.flatMap(({ scores = {} }) => scores[name] ?? []);
    return [
      [`score/${name}`, mean(given)],
      [`scoreApplies/${name}`, given.length / scored.length],
    ];
  });
  return Object.fromEntries(entries);
}

/** Mean weights of groups whose scheme finds its own. */
function combinationMetrics(groups: Collection['groups']): Metrics {
  const weighed = groups.flatMap(({ weights }) => (weights === undefined ? [] : [weights]));
  const names = new Set(weighed.flatMap((weights) => Object.keys(weights)));
  return Object.fromEntries(
    [...names].map((name) => [
      `combine/weight/${name}`,
      mean(weighed.map((weights) => weights[name] ?? 0)),
    ]),
  );
}

function outcomeCounts(trajectories: readonly Trajectory[]): Metrics {
  return Object.fromEntries(
    outcomes.map((outcome) => [
      `outcome/${outcome}`,
      trajectories.filter((trajectory) => trajectory.outcome === outcome).length,
    ]),
  );
}
