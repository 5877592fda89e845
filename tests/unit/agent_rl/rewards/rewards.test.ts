import { describe, expect, test } from '@jest/globals';

import type { ExecutedCall, Turn, Verdict } from '#agent_rl/core/plugins/environment.ts';
import { rewards } from '#agent_rl/core/plugins/reward.ts';
import { brevity } from '#agent_rl/rewards/brevity.ts';
import { builtInRewards } from '#agent_rl/rewards/index.ts';
import { wellFormedCalls } from '#agent_rl/rewards/well-formed-calls.ts';
import { describeRewardContract } from '#tests/contracts/reward-contract.ts';

const call = (status: ExecutedCall['status']): ExecutedCall => ({
  call: { id: 'call_0_0', name: 'x', arguments: {} },
  result: { content: '' },
  status,
  wallMs: 0,
});
const turn = (calls: ExecutedCall[], malformed = 0): Turn => ({
  index: 0,
  calls,
  message: {
    role: 'assistant',
    content: '',
    malformedCalls: Array.from({ length: malformed }, () => ({ id: '', text: '', problem: '' })),
  },
});
const episode = (turns: Turn[], success = true) => {
  const verdict: Verdict = { outcome: 'completed', reward: 1, components: {}, success };
  const task = { taskId: 't', prompt: '', metadata: {} };
  return { task, agent: 'policy', messages: [], turns, verdict };
};

describeRewardContract('well_formed_calls', {
  plugin: wellFormedCalls,
  score: wellFormedCalls,
  better: episode([turn([call('ok')])]),
  worse: episode([turn([call('ok')], 1)]),
  notApplicable: [episode([turn([])])],
});

describeRewardContract('brevity', {
  plugin: brevity,
  score: (view) => brevity(view, { freeTurns: 1, perTurn: 0.1 }),
  better: episode([turn([call('ok')])]),
  worse: episode([turn([call('ok')]), turn([call('ok')])]),
  notApplicable: [episode([turn([])], false)],
});

describe('wellFormedCalls', () => {
  test('is the share of calls that reached a tool, whatever the result', () => {
    const turns = [turn([call('ok'), call('rejected')], 1), turn([call('error')])];
    expect(wellFormedCalls(episode(turns))).toBe(0.5);
  });

  test('does not apply without calls', () => {
    expect(wellFormedCalls(episode([turn([])]))).toBeUndefined();
  });
});

describe('brevity', () => {
  const settings = { freeTurns: 2, perTurn: 0.25 };

  test('costs each turn beyond the free ones', () => {
    expect(brevity(episode([turn([]), turn([]), turn([]), turn([])]), settings)).toBe(-0.5);
    expect(brevity(episode([turn([])]), settings)).toBeCloseTo(0, 12);
  });

  test('does not apply to a task that was not solved', () => {
    expect(brevity(episode([turn([])], false), settings)).toBeUndefined();
  });
});

test('every built-in reward is marked as a reward', () => {
  expect(builtInRewards.map((value) => rewards.specOf(value)?.name)).toEqual([
    'answer_similarity',
    'brevity',
    'exact_match',
    'f1',
    'format',
    'integer_answer',
    'length',
    'model_judge',
    'mrr',
    'numeric',
    'search_cost',
    'tool_calls',
    'valid_code',
    'well_formed_calls',
  ]);
});
