import { expect, test } from '@jest/globals';

import type { ExecutedCall } from '#agent_rl/core/plugins/environment.ts';
import { type Member, membersOf } from '#agent_rl/core/rollout.ts';
import { rolloutMetrics } from '#agent_rl/trainer/collect/rollout-metrics.ts';
import { metricsUnder } from '#tests/support/metrics-under.ts';
import { groupOf, member, part, rollout, sequence } from '#tests/support/rollouts.ts';

const group = (members: readonly Member[], zeroVariance = false) => [
  groupOf(members, { zeroVariance }),
];
/** Of groups without others that were discarded. */
const metricsOf = (...groups: readonly (readonly Member[])[]) =>
  rolloutMetrics({ groups: groups.map((members) => group(members)), discarded: [] });
/** Two tokens of a prompt, then some of this log-probability. */
const drawnWith = (logProb: number, count: number) => {
  const one = sequence(2, count);
  return { ...one, logProbs: one.logProbs.map((value) => (value === 0 ? 0 : logProb)) };
};

const calls = (...statuses: ExecutedCall['status'][]): { calls: ExecutedCall[] } => {
  const call = { id: 'call_0_0', name: 'echo', arguments: {} };
  return {
    calls: statuses.map((status) => ({ call, result: { content: '' }, status, wallMs: 1 })),
  };
};

test('means cover the episodes with a reward, counts cover all', () => {
  const solved = member({ reward: 2, ...calls('ok', 'error'), turns: 3 });
  const failed = member({ reward: 0, sampled: 5, ...calls('rejected'), turns: 1 });
  const system = { outcome: 'infrastructure-error', sampled: 7, turns: 9 } as const;
  const broken = member(system);
  const late = member({ ...system, ...calls('timeout') });
  expect(
    rolloutMetrics({ groups: [group([solved, failed])], discarded: [group([broken, late], true)] }),
  ).toMatchObject({
    ...metricsUnder('rollout', { episodes: 4, scored: 2, successRate: 0.5, rewardMean: 1 }),
    // ±1 about the mean.
    ...metricsUnder('rollout', { rewardStd: 1, turnsMean: 2 }),
    // A rejected call never ran: 2 and 0.
    ...metricsUnder('rollout', { callsMean: 1, toolCallRate: 0.5, lengthMean: 4, lengthMax: 7 }),
    ...metricsUnder('rollout', { sampledTokens: 22, contextTokens: 30 }),
    ...metricsUnder('rollout', { rejectedCalls: 1, failedCalls: 1, timedOutCalls: 1 }),
    ...metricsUnder('outcome', { completed: 2, 'infrastructure-error': 2 }),
    ...metricsUnder('group', { count: 1, zeroVariance: 0, allRight: 0, allWrong: 0, resampled: 1 }),
  });
});

test('a component that an episode lacks counts as 0 in its mean', () => {
  const both = member({ components: { tests: 1, brevity: 0.5 }, metrics: { errors: 4 } });
  const one = member({ components: { tests: 0 } });
  const means = { 'reward/tests': 0.5, 'reward/brevity': 0.25, 'environment/errors': 2 };
  expect(metricsOf([both, one])).toMatchObject(means);
});

test('undecided answers are counted if answers are compared', () => {
  const told = (...undecided: (number | undefined)[]) =>
    metricsOf(
      undecided.map((one) => member({ metrics: one === undefined ? {} : { undecided: one } })),
    );
  expect(told(1, 0, 1)).toMatchObject({ 'answer/undecided': 2 });
  expect(told(0, undefined)).toMatchObject({ 'answer/undecided': 0 });
  expect(told(undefined)['answer/undecided']).toBeUndefined();
});

test('the entropy is estimated over every sampled token', () => {
  const drawn = (count: number, logProb: number, sketch: Parameters<typeof member>[0] = {}) =>
    member({ ...sketch, sequences: [drawnWith(logProb, count)] });
  const metrics = rolloutMetrics({
    // The second group is flat, and not sent to the learner.
    groups: [group([drawn(2, -1, { reward: 1 }), drawn(1, -4)]), group([drawn(3, 0)], true)],
    discarded: [group([drawn(4, -2, { outcome: 'aborted' })], true)],
  });
  // (2 x 1 + 1 x 4 + 3 x 0 + 4 x 2) / 10
  expect(metrics['rollout/entropyEstimate']).toBeCloseTo(1.4, 12);
  expect(metricsOf()['rollout/entropyEstimate']).toBeUndefined();
});

test('agents that do not learn only count in token counts and in metrics by agent', () => {
  const mine = part({ agent: 'mine', reward: 0, sequences: [drawnWith(-0.001, 4)] });
  const theirs = part({
    agent: 'theirs',
    learns: false,
    reward: 1,
    outcome: 'truncated-turns',
    sequences: [drawnWith(-3, 9)],
    ...calls('ok', 'rejected', 'error', 'timeout'),
    turns: 5,
    malformedCalls: 2,
  });
  const groups = membersOf(rollout([mine, theirs])).map((one) =>
    groupOf([one], { penalised: one.part.learns ? 0 : 1 }),
  );
  const metrics = rolloutMetrics({ groups: [groups], discarded: [groups.slice(1)] });
  expect(metrics['rollout/entropyEstimate']).toBeCloseTo(0.001, 12);
  expect(metrics).toMatchObject({
    ...metricsUnder('rollout', { sampledTokens: 4 + 9 + 9, rewardMean: 0, rewardStd: 0 }),
    ...metricsUnder('rollout', { lengthMean: 4, lengthMax: 4, turnsMean: 1, callsMean: 0 }),
    ...metricsUnder('rollout', { toolCallRate: 0, malformedCalls: 0, rejectedCalls: 0 }),
    ...metricsUnder('rollout', { failedCalls: 0, timedOutCalls: 0, repetition: 0, penalised: 0 }),
    ...metricsUnder('outcome', { completed: 1, 'truncated-turns': 0 }),
    ...metricsUnder('agentReward', { mine: 0, theirs: 1 }),
  });
});

test('the share of failed episodes is a metric, and a failed group is neither right nor wrong', () => {
  const broken = () => member({ outcome: 'grader-error' });
  const right = () => member({ reward: 1 });
  const groups = [
    [broken(), broken()],
    [broken(), right()],
    [right(), member()],
  ];
  expect(metricsOf(...groups)).toMatchObject({
    'rollout/failedShare': 0.5,
    'group/count': 3,
    'group/allRight': 1,
    'group/allWrong': 0,
  });
});

test('requests of external agents are counted, and absent without any', () => {
  const facts = { turns: 4, replayed: 1, delivered: 3, drift: { thoughts: 2 }, ignored: {} };
  const branched = member({
    sequences: [sequence(2, 3), sequence(3, 2)],
    undelivered: 5,
    requests: { ...facts, ignored: { temperature: 4, n: 1 } },
  });
  const plain = member({ requests: { ...facts, delivered: 4, drift: { thoughts: 1, edited: 1 } } });
  const without = member();
  const metrics = metricsOf([branched, plain, without]);
  expect(metrics).toMatchObject({
    // 3 + 2, 3 and 3 in sequences; 5 in none.
    'rollout/sampledTokens': 16,
    ...metricsUnder('gateway', { deliveredShare: 7 / 8, replayed: 2, sequences: 1.5 }),
    ...metricsUnder('gateway/drift', { thoughts: 3, edited: 1 }),
    ...metricsUnder('gateway/ignored', { temperature: 4, n: 1 }),
  });
  const own = Object.keys(metricsOf([without]));
  expect(own.filter((name) => name.startsWith('gateway/'))).toEqual([]);
});
