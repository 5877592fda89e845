import { expect, test } from '@jest/globals';

import { evalRows, sliceNames, trainRow } from '#dataset/workspace_tasks/generator/rows.ts';
import { WorkspaceTasks } from '#dataset/workspace_tasks/workspace-tasks.ts';
import { describeTaskGeneratorContract } from '#tests/contracts/task-generator-contract.ts';

const create = (slices = ['unseen pairs'], evalTasks = 5) =>
  new WorkspaceTasks({ settings: { slices, evalTasks } });

describeTaskGeneratorContract('workspace', { plugin: WorkspaceTasks, create, tasks: 64 });

test('the generator makes the rows that make-workspace writes', () => {
  expect(create().train(3, 8)).toEqual(trainRow(3, 8));
  const slices = sliceNames.filter((name) => name !== undefined);
  expect(create(slices, 2).evaluation()).toEqual(evalRows(2));
});

test('the evaluation asks evalTasks questions of the headline and of each named slice', () => {
  const slicesOf = (names: string[]) =>
    create(names, 2)
      .evaluation()
      .map(({ slice }) => slice);
  expect(slicesOf([])).toEqual([undefined, undefined]);
  expect(slicesOf(['four steps', 'one step'])).toEqual(
    [undefined, 'one step', 'four steps'].flatMap((slice) => [slice, slice]),
  );
});
