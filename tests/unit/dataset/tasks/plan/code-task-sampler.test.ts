import { expect, test } from '@jest/globals';

import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import { CodeTaskSampler } from '#dataset/tasks/plan/code-task-sampler.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const tasksOf = (count: number): CodeTask[] =>
  Array.from({ length: count }, (_, i) => ({
    taskId: String(i),
    prompt: '',
    starterCode: '',
    tests: { kind: 'stdin', cases: [] },
    compare: 'exact',
    metadata: {},
  }));

test('A sampler continues from a restored state as if it had never stopped', () => {
  const whole = new CodeTaskSampler(tasksOf(7), { seed: 5 });
  whole.next(10);
  const resumed = new CodeTaskSampler(tasksOf(7), { seed: 5 });
  resumed.restore(structuredClone(whole.state()));
  expect(resumed.next(9)).toEqual(whole.next(9));
});

test('A sampler refuses the state of other data', () => {
  const sampler = new CodeTaskSampler(tasksOf(7), { seed: 5 });
  expect(thrownBy(() => sampler.restore({ draws: 1, sizes: [8] })).code).toBe('CHECKPOINT_INVALID');
});
