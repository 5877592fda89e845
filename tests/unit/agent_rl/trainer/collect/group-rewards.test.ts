import { describe, expect, test } from '@jest/globals';

import { AgentRlError } from '#agent_rl/core/errors.ts';
import { TransientError } from '#agent_rl/core/failure.ts';
import type { GroupRewards, JudgedGroup } from '#agent_rl/core/plugins/reward-manager.ts';
import { normalised, weighted } from '#agent_rl/rewards/managers/schemes.ts';
import {
  type GroupRewarding,
  groupRewards,
  type RewardedPart,
} from '#agent_rl/trainer/collect/group-rewards.ts';
import { part, played } from '#tests/support/rollouts.ts';
import type { Member } from '#agent_rl/core/rollout.ts';
import { ranking } from '#agent_rl/rewards/managers/ranking.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { failing } from '#tests/support/grpo-trainer-setup.ts';

const terms = [
  { name: 'environment', weight: 1 },
  { name: 'mrr', weight: 3 },
];
const task = { taskId: 't', prompt: 'a?', metadata: {} };
const { signal } = new AbortController();

const judged = (sketch: Partial<RewardedPart> & { reward: number }): RewardedPart =>
  part({ success: false, ...sketch });
const failed: RewardedPart = part({ outcome: 'infrastructure-error' });

type Assign = (group: JudgedGroup, signal: AbortSignal) => GroupRewards | Promise<GroupRewards>;
const by = (assign: Assign, more: Partial<GroupRewarding> = {}): GroupRewarding => ({
  name: 'mine',
  manager: { assign },
  terms,
  ...more,
});
const rewarded = (members: readonly RewardedPart[], rewarding: GroupRewarding | undefined) =>
  groupRewards(task, members, { rewarding, signal });

describe('The rewards of a group', () => {
  test("the group has the episodes' own rewards without a manager", async () => {
    const members = [judged({ reward: 0.1 + 0.2, scores: { mrr: 9 } }), failed];
    const { rewards } = await rewarded(members, undefined);
    expect(rewards).toEqual([0.1 + 0.2, undefined]);
  });

  test("the manager's rewards combine the scores minus the penalty for invalid calls", async () => {
    const members = [
      judged({ reward: 5, components: { invalidCalls: -0.4 }, scores: { environment: 1, mrr: 0 } }),
      failed,
      judged({ reward: 6, scores: { environment: 0, mrr: 10, other: 99 } }),
    ];
    // Deviations 1, -1 and -1, 1, weights 1 and 3: -2 and 2, and 0.4 off the first.
    const weights = { environment: 1, mrr: 3 };
    expect(await rewarded(members, by(normalised))).toEqual({
      rewards: [-2.4, undefined, 2],
      weights,
      retries: 0,
    });
  });

  test("the weighted sum equals the episodes' own rewards exactly", async () => {
    // The sum and then the penalty, as an episode's own reward is made: 0.1 + 0.6 - 0.3 is not 0.1 + (0.6 - 0.3).
    const reward = 0.1 + 3 * 0.2 - 0.3;
    const scores = { environment: 0.1, mrr: 0.2 };
    const members = [
      judged({ reward, components: { invalidCalls: -0.3 }, scores }),
      judged({ reward: 0.1 + 3 * 0.2, scores }),
    ];
    const { rewards } = await rewarded(members, by(weighted));
    expect(rewards).toEqual([reward, 0.1 + 3 * 0.2]);
  });
});

describe('A reward manager', () => {
  const three = [judged({ reward: 1 }), failed, judged({ reward: 0 })];

  test('sees the task and the judged episodes, before the penalty for invalid calls', async () => {
    const seen: JudgedGroup[] = [];
    const sees: Assign = (group) => ({ rewards: [seen.push(group)] });
    const scores = { environment: 1, mrr: 2 };
    const penalised = judged({ reward: 6.5, components: { invalidCalls: -0.5 }, scores });
    await rewarded([penalised, failed], by(sees));
    const episodes = [{ reward: 7, scores, success: false }];
    expect(seen).toMatchObject([{ task, terms, episodes }]);
    expect(Object.keys(seen[0]?.episodes[0] ?? {})).not.toContain('sample');
  });

  test('is not called for a group without judged episodes', async () => {
    const asked = by(() => Promise.reject(new Error('asked')));
    const given = await rewarded([failed, failed], asked);
    expect(given.rewards).toEqual([undefined, undefined]);
    expect(given).not.toHaveProperty('failed');
  });

  test('may leave out an episode, and keeps the index of the others', async () => {
    const components = [{ rank: 1 }, { rank: 0 }];
    const leavesOut: Assign = async () => ({ rewards: [undefined, 3], components });
    expect(await rewarded(three, by(leavesOut))).toEqual({
      rewards: [undefined, undefined, 3],
      components: [{ rank: 1 }, {}, { rank: 0 }],
      retries: 0,
    });
  });

  test.each([
    ['no list', undefined, 'rewards is nothing; expected a list of 2'],
    ['what is not finite', [1, Number.NaN], 'rewards[1] is NaN'],
    ['a number that would drown all others', [1, 1e300], 'rewards[1] is 1e+300'],
  ])('fails with a message if it returns %s', async (_, rewards, problem) => {
    const returns: Assign = () => ({ rewards }) as GroupRewards;
    const given = await rewarded(three, by(returns));
    expect(given.rewards).toEqual([undefined, undefined, undefined]);
    expect(given.failed?.problem).toMatch(/^Reward manager "mine" failed/);
    expect(given.failed?.problem).toContain(problem);
    expect(given.failed?.failure).toEqual({ owner: 'plugin', retryable: false });
  });

  test('fails at the grading deadline, and its signal is aborted', async () => {
    let told = false;
    const waits: Assign = (_, until) =>
      new Promise(() => until.addEventListener('abort', () => (told = true)));
    const { failed: why } = await rewarded(three, by(waits, { deadlineS: 0.01 }));
    expect(why?.problem).toBe(
      'Reward manager "mine" took longer than 0.01 s for a group (rollout.deadlines.gradingS).',
    );
    expect(told).toBe(true);
  });

  test('is retried after a temporary failure, with a count', async () => {
    let asked = 0;
    const busy: Assign = () => {
      asked += 1;
      if (asked === 1) throw new TransientError('busy');
      return { rewards: [1, 0] };
    };
    const given = await rewarded(three, by(busy, { retries: 1 }));
    expect(given).toMatchObject({ rewards: [1, undefined, 0], retries: 1 });
  });

  test('ends the run when its budget is spent', async () => {
    const spent = new AgentRlError('WEB_BUDGET_SPENT', 'spent');
    const broke: Assign = () => Promise.reject(new Error('no answer', { cause: spent }));
    await expect(rewarded(three, by(broke))).rejects.toBe(spent);
  });
});

/** One iteration of two groups of three under a manager, which may fail. */
async function trainOne(assign: GroupRewarding['manager']['assign'], maxInARow = 1000) {
  const members: Member[] = [];
  const ownTerms = [{ name: 'environment', weight: 1 }];
  const { error, trainer, learner } = await failing(
    ({ key: { sample } }) => played({ reward: [8, 1, 0][sample] ?? 0 }),
    { rollout: { groupSize: 3, failures: { maxInARow } }, train: { iterations: 1 } },
    { iteration: ({ learned }) => members.push(...learned) },
    { rewarding: { name: 'mine', manager: { assign }, terms: ownTerms } },
  );
  const { totals } = trainer.state();
  const advantages = learner.batches.flat().map((datum) => datum.advantages[2]);
  return { members, recorded: members.map((one) => one.part), advantages, totals, error };
}

/** Rewards of the first task, and a failure for the second. */
const failingOnce = (group: JudgedGroup) => {
  if (group.task.taskId === 't1') throw new Error('no comparison');
  return ranking(group);
};

test("a group is trained on its manager's rewards, which the records have beside the sum", async () => {
  const { members, recorded, advantages } = await trainOne(ranking);
  // 8, 1 and 0 become 1, 1/2 and 0; the middle one has no advantage and is not sent.
  expect(advantages).toEqual([0.5, -0.5, 0.5, -0.5]);
  const rewards = recorded.map(({ reward, groupReward }) => `${reward} ${groupReward?.reward}`);
  expect(rewards.slice(0, 3)).toEqual(['8 1', '1 0.5', '0 0']);
  const [first] = members;
  expect(first && episodeRecord(first)).toMatchObject({
    reward: 8,
    groupReward: { manager: 'mine', reward: 1, components: { weightedSum: 8 } },
  });
});

test('a failing manager makes its group grader errors, and the others learn', async () => {
  const { members, recorded, advantages, totals, error } = await trainOne(failingOnce);
  expect(error).toBeUndefined();
  expect(advantages).toEqual([0.5, -0.5]);
  const unjudged = {
    problem: expect.stringMatching(/^Reward manager "mine" failed.*: no comparison$/),
    failure: { owner: 'plugin', retryable: false },
  };
  const unscored = { outcome: 'grader-error', reward: undefined, success: false, unjudged };
  expect(recorded.slice(3)).toMatchObject([unscored, unscored, unscored]);
  expect(episodeRecord(members[3]!)).toMatchObject(unjudged);
  expect(totals.outcomes).toMatchObject({ 'grader-error': 3, completed: 3 });
  expect(totals.ledger).toMatchObject({ grader: 9, trained: 6, 'zero-advantage': 3 });
});

test('failures of a manager count as failed episodes, and end the run if too many are consecutive', async () => {
  const { error } = await trainOne(failingOnce, 3);
  expect(String(error)).toMatch(/3 consecutive episodes failed .*no comparison/);
});

test('an episode that the manager leaves out is not compared', async () => {
  const { recorded, advantages, totals } = await trainOne(() => ({ rewards: [4, undefined, 2] }));
  expect(advantages).toEqual([1, -1, 1, -1]);
  expect(recorded[1]).toMatchObject({ outcome: 'completed', reward: 1 });
  expect(recorded[1]?.groupReward).toEqual({ manager: 'mine', reward: undefined });
  expect(totals.ledger).toMatchObject({ masked: 6, trained: 12 });
});
