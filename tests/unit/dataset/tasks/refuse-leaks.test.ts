import { describe, expect, test } from '@jest/globals';

import { rejectLeaks, warnIfFewer } from '#dataset/tasks/task-sets.ts';
import { previewText } from '#agent_rl/jobs/train/train.ts';

const task = (taskId: string, prompt: string) => ({ taskId, prompt, metadata: {} });

describe('held-out tasks', () => {
  const trained = [task('a', 'Add.'), task('b', 'Subtract.')];

  test('may not be trained on under the same id', () => {
    expect(() => rejectLeaks(trained, [task('b', 'Divide.'), task('c', 'Double.')])).toThrow(
      '1 of 2 held-out tasks are also trained on: "b" (same id). Take them out of one split.',
    );
  });

  test('may not be trained on under another id', () => {
    expect(() => rejectLeaks(trained, [task('c', ' Add.\n')])).toThrow('"c" (same prompt as "a")');
  });

  test('pass when none is trained on', () => {
    expect(() => rejectLeaks(trained, [task('c', 'Double.')])).not.toThrow();
  });
});

test('a preview shows what would command a terminal instead of sending it', () => {
  const text = previewText([task('x\u0007', 'Red \u001B[31m\nand\ttabbed')], 1);
  expect(text).toBe('Tasks (1 of 1)\n  x\\x07\n    Red \\x1b[31m\n    and\ttabbed');
});

test('a setting that asks for more tasks than there are is reported', () => {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  warnIfFewer('eval.maxTasks', 9, 8, say);
  warnIfFewer('eval.maxTasks', 8, 8, say);
  warnIfFewer('eval.maxTasks', undefined, 8, say);
  expect(said).toEqual(['eval.maxTasks is 9, but there are only 8 tasks; all of them are used.']);
});
