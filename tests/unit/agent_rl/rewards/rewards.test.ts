import { expect, test } from '@jest/globals';

import { rewards } from '#agent_rl/core/plugins/reward.ts';
import { brevity } from '#agent_rl/rewards/brevity.ts';
import { builtInRewards } from '#agent_rl/rewards/index.ts';
import { wellFormedCalls } from '#agent_rl/rewards/well-formed-calls.ts';
import { describeRewardContract } from '#tests/contracts/reward-contract.ts';
import { episodeOf, type SaidTurn } from '#tests/support/episodes.ts';

const ok: SaidTurn = { calls: [{ tool: 'x' }] };
const solved = (...turns: readonly SaidTurn[]) => {
  const view = episodeOf({}, turns);
  return { ...view, verdict: { ...view.verdict, reward: 1, success: true } };
};

describeRewardContract('well_formed_calls', {
  plugin: wellFormedCalls,
  score: wellFormedCalls,
  better: solved(ok),
  worse: solved({ ...ok, malformed: 1 }),
  notApplicable: [solved({})],
});

describeRewardContract('brevity', {
  plugin: brevity,
  score: (view) => brevity(view, { freeTurns: 1, perTurn: 0.1 }),
  better: solved(ok),
  worse: solved(ok, ok),
  notApplicable: [episodeOf({}, [{}])],
});

test('wellFormedCalls is the share of calls that reached a tool, whatever the result', () => {
  const calls = [{ tool: 'x' }, { tool: 'x', status: 'rejected' as const }];
  const failed = { calls: [{ tool: 'x', status: 'error' as const }] };
  expect(wellFormedCalls(solved({ calls, malformed: 1 }, failed))).toBe(0.5);
});

test('brevity costs each turn beyond the free ones', () => {
  const settings = { freeTurns: 2, perTurn: 0.25 };
  expect(brevity(solved({}, {}, {}, {}), settings)).toBe(-0.5);
  expect(brevity(solved({}), settings)).toBeCloseTo(0, 12);
});

test('every built-in reward is marked as a reward', () => {
  expect(builtInRewards.filter((one) => rewards.specOf(one) === undefined)).toEqual([]);
});
