import { describe, expect, test } from '@jest/globals';

import { chooseSelection, withoutTasks } from '#dataset/tasks/selection-tasks.ts';

const setOf = (name: string, count: number, weight = 1) => ({
  weight,
  tasks: Array.from({ length: count }, (_, i) => ({
    taskId: `${name}${String(i).padStart(2, '0')}`,
    prompt: '',
    metadata: {},
  })),
});
const ids = (tasks: readonly { taskId: string }[]) => tasks.map(({ taskId }) => taskId);

describe('chooseSelection', () => {
  test('draws tasks from all sets by the seed, in the order of the files', () => {
    const sets = [setOf('a', 30), setOf('b', 20, 2)];
    const chosen = ids(chooseSelection(sets, { count: 10, seed: 1 }));
    expect(new Set(chosen).size).toBe(10);
    expect(chosen).toEqual(chosen.toSorted());
    expect(new Set(chosen.map((id) => id[0]))).toEqual(new Set(['a', 'b']));
    expect(ids(chooseSelection(sets, { count: 10, seed: 1 }))).toEqual(chosen);
    expect(ids(chooseSelection(sets, { count: 10, seed: 2 }))).not.toEqual(chosen);
  });

  test('takes its tasks out of training, whose sets keep order and weight', () => {
    const sets = [setOf('a', 30), setOf('b', 20, 2)];
    const chosen = chooseSelection(sets, { count: 10, seed: 1 });
    const left = withoutTasks(sets, new Set(chosen));
    expect(left.map(({ weight }) => weight)).toEqual([1, 2]);
    const both = [...left.flatMap(({ tasks }) => tasks), ...chosen];
    expect(ids(both).toSorted()).toEqual(ids(sets.flatMap(({ tasks }) => tasks)));
    expect(ids(left[0]?.tasks ?? [])).toEqual(ids(left[0]?.tasks ?? []).toSorted());
  });

  test('refuses to leave a set without training tasks', () => {
    const sets = [setOf('a', 30), setOf('b', 1)];
    expect(() => chooseSelection(sets, { count: 30, seed: 1 })).toThrow(
      'eval.selectionTasks is 30, but there are only 30 and 1 training tasks',
    );
    expect(() => chooseSelection([setOf('a', 3)], { count: 64, seed: 1 })).toThrow('Lower it');
  });
});
