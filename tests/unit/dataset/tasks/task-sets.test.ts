import { describe, expect, test } from '@jest/globals';

import { previewText } from '#agent_rl/jobs/train/train.ts';
import { evaluationTasks, trainingTasks } from '#dataset/tasks/generated-tasks.ts';
import { chooseSelection, withoutTasks } from '#dataset/tasks/selection-tasks.ts';
import { rejectLeaks, warnIfFewer } from '#dataset/tasks/task-sets.ts';
import { errorOf, thrownBy } from '#tests/support/thrown.ts';

const task = (taskId: string, prompt = '') => ({ taskId, prompt, metadata: {} });
const ids = (tasks: readonly { taskId: string }[]) => tasks.map(({ taskId }) => taskId);

describe('A row of a task generator', () => {
  /** A generator of these rows. */
  const made = ({
    train = (seed: number, index: number): object => ({
      question: `${seed} + ${index}?`,
      answer: 1,
    }),
    held = [{ question: 'Held?', answer: 2 }] as Iterable<object>,
    format = 'question',
  }) => {
    const generator = { train, evaluation: () => held };
    return { name: 'sums', version: 3, format, seed: 5, generator };
  };

  test('is read like a line of a file in its format', () => {
    const train = (seed: number, index: number) => ({
      question: `${seed} + ${index}?`,
      answer: seed + index,
      slice: 'hard',
    });
    const { source, taskAt } = trainingTasks(made({ train }));
    expect(source).toBe('sums (version 3)');
    const metadata = { slice: 'hard' };
    const expected = {
      taskId: 'sums-train-4',
      prompt: '5 + 4?',
      answer: '9',
      aliases: [],
      metadata,
    };
    expect([taskAt(4), taskAt(4)]).toEqual([expected, expected]);
    expect(ids(evaluationTasks(made({})))).toEqual(['sums-eval-0']);
  });

  test('is refused with its number if it is invalid', () => {
    const { taskAt } = trainingTasks(made({ train: () => ({ question: 7 }) }));
    expect(thrownBy(() => taskAt(12))).toMatchObject(
      errorOf('DATASET_INVALID', '(train 12): question: must be string, got 7.'),
    );
    expect(() => evaluationTasks(made({ held: [{}] }))).toThrow('(eval 0): question: is missing.');
    expect(() => evaluationTasks(made({ held: [] }))).toThrow('sums made no tasks');
  });

  test('may not repeat the id of another row', () => {
    const train = (_seed: number, n: number) => ({ task_id: `t${n % 3}`, question: `${n}?` });
    const { taskAt } = trainingTasks(made({ train }));
    taskAt(4);
    taskAt(2);
    expect(() => taskAt(1)).toThrow('made two tasks with the id "t1", 4 and 1');
    const held = [1, 2].map((n) => ({ task_id: 'x', question: `${n}?` }));
    expect(() => evaluationTasks(made({ held }))).toThrow('two tasks with the id "x", 0 and 1');
  });

  test('in an unknown format, or that cannot be made, is a failure of the plugin', () => {
    expect(thrownBy(() => trainingTasks(made({ format: 'riddle' })))).toMatchObject(
      errorOf('CONFIG_INVALID', '"riddle" is not known (taskFormat of the task generator'),
    );
    const broken = (): never => {
      throw new Error('no seeds left');
    };
    expect(thrownBy(() => trainingTasks(made({ train: broken })).taskAt(0))).toMatchObject(
      errorOf('PLUGIN_LOAD_FAILED', /^task generator "sums" failed in train .*: no seeds left$/),
    );
  });
});

describe('chooseSelection', () => {
  const setOf = (name: string, count: number, weight = 1) => ({
    weight,
    tasks: Array.from({ length: count }, (_, i) => task(`${name}${String(i).padStart(2, '0')}`)),
  });
  const sets = [setOf('a', 30), setOf('b', 20, 2)];
  const choose = (seed: number) => chooseSelection(sets, { count: 10, seed });

  test('draws tasks from all sets by the seed, in the order of the files', () => {
    const chosen = ids(choose(1));
    expect(new Set(chosen).size).toBe(10);
    expect(chosen).toEqual(chosen.toSorted());
    expect(new Set(chosen.map((id) => id[0]))).toEqual(new Set(['a', 'b']));
    expect(ids(choose(1))).toEqual(chosen);
    expect(ids(choose(2))).not.toEqual(chosen);
  });

  test('takes its tasks out of training, whose sets keep order and weight', () => {
    const left = withoutTasks(sets, new Set(choose(1)));
    expect(left.map(({ weight }) => weight)).toEqual([1, 2]);
    const both = [...left.flatMap(({ tasks }) => tasks), ...choose(1)];
    expect(ids(both).toSorted()).toEqual(ids(sets.flatMap(({ tasks }) => tasks)));
    expect(ids(left[0]?.tasks ?? [])).toEqual(ids(left[0]?.tasks ?? []).toSorted());
  });

  test('refuses to leave a set without training tasks', () => {
    const problem = 'eval.selectionTasks is 30, but there are only 30 and 1 training tasks';
    const few = [setOf('a', 30), setOf('b', 1)];
    expect(() => chooseSelection(few, { count: 30, seed: 1 })).toThrow(problem);
    expect(() => chooseSelection([setOf('a', 3)], { count: 64, seed: 1 })).toThrow(
      'Lower eval.selectionTasks',
    );
  });
});

test.each([
  [
    'the same id',
    task('b', 'Divide.'),
    '1 of 2 held-out tasks are also training tasks: "b" (same id)',
  ],
  ['another id', task('c', ' Add.\n'), '"c" (same prompt as "a")'],
])('a held-out task may not be trained on under %s', (_, leak, problem) => {
  const trained = [task('a', 'Add.'), task('b', 'Subtract.')];
  expect(() => rejectLeaks(trained, [leak, task('d', 'Double.')])).toThrow(problem);
  expect(() => rejectLeaks(trained, [task('c', 'Double.')])).not.toThrow();
});

test('a preview spells out control characters instead of sending them to the terminal', () => {
  const text = previewText([task('x\u0007', 'Red \u001B[31m\nand\ttabbed')], 1);
  expect(text).toBe('Tasks (1 of 1)\n  x\\x07\n    Red \\x1b[31m\n    and\ttabbed');
});

test('a setting that asks for more tasks than there are gets a warning', () => {
  const said: string[] = [];
  for (const asked of [9, 8, undefined])
    warnIfFewer('eval.maxTasks', asked, 8, (text) => void said.push(text));
  expect(said).toEqual([expect.stringContaining('eval.maxTasks is 9, but there are only 8')]);
});
