import { expect, test } from '@jest/globals';

import { mixed, options, type Script, trained } from '#tests/support/grpo-trainer-setup.ts';
import { played } from '#tests/support/rollouts.ts';
import { builtinSelection } from '#tests/support/algorithm-parts.ts';

test('every group has its own seed, also a replacement', async () => {
  const script: Script = ({ task, key: { sample } }) =>
    played({ reward: ['t0', 't1'].includes(task.taskId) ? 0 : sample });
  const { rollouts } = await trained(script, {
    algorithm: { ...options.algorithm, selection: builtinSelection('dynamic', { cap: 1 }) },
  });
  const drawn = rollouts.requests.map(({ task, seed }) => `${task.taskId} ${seed}`);
  expect(new Set(drawn).size).toBe(6);
  expect(new Set(rollouts.requests.map(({ seed }) => seed)).size).toBe(6);
});

test('resampling does not change the tasks of the next iteration', async () => {
  const firstTasks = async (enabled: boolean): Promise<string[]> => {
    const { rollouts } = await trained(() => played({ reward: 0 }), {
      algorithm: {
        ...options.algorithm,
        selection: enabled ? builtinSelection('dynamic', { cap: 2 }) : builtinSelection('all'),
      },
    });
    const ofIteration = rollouts.requests.filter(
      ({ key }) => key.iteration === 2 && key.round === 0 && key.sample === 0,
    );
    return ofIteration.map(({ task }) => task.taskId);
  };
  expect(await firstTasks(true)).toEqual(['t2', 't3']);
  expect(await firstTasks(false)).toEqual(['t2', 't3']);
});

test('the key of an episode locates it in the run', async () => {
  const { rollouts } = await trained(mixed);
  expect(rollouts.requests[6]?.key).toEqual({
    run: 'run',
    when: 'train',
    iteration: 2,
    round: 0,
    slot: 1,
    sample: 0,
  });
});

test('an iteration without learning is followed by one with other seeds and the same weights', async () => {
  const { rollouts } = await trained(() => played({ reward: 0 }));
  const ofGroups = rollouts.requests.filter(({ key: { sample } }) => sample === 0);
  expect(ofGroups.map(({ step }) => step)).toEqual([0, 0, 0, 0]);
  expect(new Set(ofGroups.map(({ seed }) => seed)).size).toBe(4);
});
