import { describe, expect, test } from '@jest/globals';

import { evaluationTasks, trainingTasks } from '#dataset/tasks/generated-tasks.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

/** A generator of these rows. */
const made = ({
  train = (seed: number, index: number): object => ({ question: `${seed} + ${index}?`, answer: 1 }),
  held = [{ question: 'Held?', answer: 2 }] as Iterable<object>,
  format = 'question',
}) => ({
  name: 'sums',
  version: 3,
  format,
  seed: 5,
  generator: { train, evaluation: () => held },
});

describe('A row of a task generator', () => {
  test('is read like a line of a file in its format', () => {
    const train = (seed: number, index: number) => ({
      question: `${seed} + ${index}?`,
      answer: seed + index,
      slice: 'hard',
    });
    const { source, taskAt } = trainingTasks(made({ train }));
    expect(source).toBe('sums (version 3)');
    expect(taskAt(4)).toEqual({
      taskId: 'sums-train-4',
      prompt: '5 + 4?',
      answer: '9',
      aliases: [],
      metadata: { slice: 'hard' },
    });
    expect(taskAt(4)).toEqual(taskAt(4));
    expect(evaluationTasks(made({})).map(({ taskId }) => taskId)).toEqual(['sums-eval-0']);
  });

  test('is refused with its number if it is invalid', () => {
    const { taskAt } = trainingTasks(made({ train: () => ({ question: 7 }) }));
    expect(thrownBy(() => taskAt(12))).toMatchObject(
      errorOf('DATASET_INVALID', '(train 12): question: must be string, got 7.'),
    );
    expect(() => evaluationTasks(made({ held: [{}] }))).toThrow('(eval 0): question: is missing.');
    expect(() => evaluationTasks(made({ held: [] }))).toThrow('sums holds no tasks');
  });

  test('may not repeat the id of another row', () => {
    const train = (_seed: number, index: number) => ({
      task_id: `t${index % 3}`,
      question: `${index}?`,
    });
    const { taskAt } = trainingTasks(made({ train }));
    taskAt(4);
    taskAt(2);
    expect(() => taskAt(1)).toThrow('made two tasks with the id "t1", 4 and 1');
    const held = [1, 2].map((n) => ({ task_id: 'x', question: `${n}?` }));
    expect(() => evaluationTasks(made({ held }))).toThrow(
      'made two tasks with the id "x", 0 and 1',
    );
  });

  test('in an unknown format, or that cannot be made, is a failure of the plugin', () => {
    expect(thrownBy(() => trainingTasks(made({ format: 'riddle' })))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('"riddle" is not known (taskFormat of the task generator'),
    });
    const broken = (): never => {
      throw new Error('no seeds left');
    };
    expect(thrownBy(() => trainingTasks(made({ train: broken })).taskAt(0))).toMatchObject(
      errorOf('PLUGIN_LOAD_FAILED', /^task generator "sums" failed in train .*: no seeds left$/),
    );
  });
});
