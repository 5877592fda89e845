import { describe, expect, test } from '@jest/globals';

import { rejectLeaks, warnIfFewer } from '#dataset/tasks/task-sets.ts';
import { previewText } from '#agent_rl/jobs/train/train.ts';

const task = (taskId: string, prompt: string) => ({ taskId, prompt, metadata: {} });

describe('A held-out task', () => {
  const trained = [task('a', 'Add.'), task('b', 'Subtract.')];

  test.each([
    [
      'the same id',
      task('b', 'Divide.'),
      '1 of 2 held-out tasks are also trained on: "b" (same id)',
    ],
    ['another id', task('c', ' Add.\n'), '"c" (same prompt as "a")'],
  ])('may not be trained on under %s', (_, leak, problem) => {
    expect(() => rejectLeaks(trained, [leak, task('d', 'Double.')])).toThrow(problem);
  });

  test('passes unless it is trained on', () => {
    expect(() => rejectLeaks(trained, [task('c', 'Double.')])).not.toThrow();
  });
});

test('a preview spells out control characters instead of sending them to the terminal', () => {
  const text = previewText([task('x\u0007', 'Red \u001B[31m\nand\ttabbed')], 1);
  expect(text).toBe('Tasks (1 of 1)\n  x\\x07\n    Red \\x1b[31m\n    and\ttabbed');
});

test('a setting that asks for more tasks than there are gets a warning', () => {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  warnIfFewer('eval.maxTasks', 9, 8, say);
  warnIfFewer('eval.maxTasks', 8, 8, say);
  warnIfFewer('eval.maxTasks', undefined, 8, say);
  expect(said).toEqual([expect.stringContaining('eval.maxTasks is 9, but there are only 8')]);
});
