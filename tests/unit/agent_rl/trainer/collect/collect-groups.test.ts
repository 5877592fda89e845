import { expect, test } from '@jest/globals';

import { never, options, type Script, setUp } from '#tests/support/grpo-trainer-setup.ts';
import { trajectory } from '#tests/support/trajectories.ts';

test('every group is played with a seed of its own, also one that takes the place of another', async () => {
  const script: Script = ({ task, sample }) =>
    trajectory({ reward: ['t0', 't1'].includes(task.taskId) ? 0 : sample });
  const { trainer, rollouts } = setUp(script, {
    rollout: { ...options.rollout, resampleZeroVariance: { enabled: true, cap: 1 } },
  });
  await trainer.train(never);
  const played = rollouts.requests.map(({ task, seed }) => `${task.taskId} ${seed}`);
  // The second iteration begins with t4: t2 and t3 took the places of t0 and t1.
  expect(new Set(played).size).toBe(6);
  expect(new Set(rollouts.requests.map(({ seed }) => seed)).size).toBe(6);
});

test('an iteration that taught nothing is followed by one with other seeds, by the same weights', async () => {
  const { trainer, rollouts } = setUp(() => trajectory({ reward: 0 }));
  await trainer.train(never);
  const ofGroups = rollouts.requests.filter(({ sample }) => sample === 0);
  expect(ofGroups.map(({ step }) => step)).toEqual([0, 0, 0, 0]);
  expect(new Set(ofGroups.map(({ seed }) => seed)).size).toBe(4);
});
