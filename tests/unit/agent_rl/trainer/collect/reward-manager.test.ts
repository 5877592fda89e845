import { expect, test } from '@jest/globals';

import type { JudgedGroup } from '#agent_rl/core/plugins/reward-manager.ts';
import type { Member } from '#agent_rl/core/rollout.ts';
import { ranking } from '#agent_rl/rewards/managers/ranking.ts';
import type { GroupRewarding } from '#agent_rl/trainer/collect/group-rewards.ts';
import { trajectoryLine } from '#agent_rl/runs/episodes/trajectory-line.ts';
import { failing } from '#tests/support/grpo-trainer-setup.ts';
import { played } from '#tests/support/rollouts.ts';

/** One iteration of two groups of three under a manager, which may fail. */
async function trainOne(assign: GroupRewarding['manager']['assign'], maxInARow = 1000) {
  const members: Member[] = [];
  const terms = [{ name: 'environment', weight: 1 }];
  const { error, trainer, learner } = await failing(
    ({ key: { sample } }) => played({ reward: [8, 1, 0][sample] ?? 0 }),
    { rollout: { groupSize: 3, failures: { maxInARow } }, train: { iterations: 1 } },
    { iteration: ({ learned }) => members.push(...learned) },
    { rewarding: { name: 'mine', manager: { assign }, terms } },
  );
  const { totals } = trainer.state();
  const advantages = learner.batches.flat().map((datum) => datum.advantages[2]);
  return { members, recorded: members.map(({ part }) => part), advantages, totals, error };
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
  expect(first && trajectoryLine(first)).toMatchObject({
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
  const failed = { outcome: 'grader-error', reward: undefined, success: false, unjudged };
  expect(recorded.slice(3)).toMatchObject([failed, failed, failed]);
  expect(trajectoryLine(members[3]!)).toMatchObject(unjudged);
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
