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

test('its evaluation always asks the headline, and of the slices those that are named, so many of each', () => {
  const counts = (slices: string[]) => {
    const found = new Map<string | undefined, number>();
    for (const { slice } of create(slices).evaluation())
      found.set(slice, (found.get(slice) ?? 0) + 1);
    return [...found];
  };
  expect(counts([])).toEqual([[undefined, 5]]);
  expect(counts(['four steps', 'one step'])).toEqual([
    [undefined, 5],
    ['one step', 5],
    ['four steps', 5],
  ]);
});
