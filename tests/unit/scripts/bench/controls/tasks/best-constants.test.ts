import { describe, expect, test } from '@jest/globals';

import { bestConstants } from '#scripts/bench/controls/tasks/best-constants.ts';

const task = (family: string, answer: string) => ({
  taskId: `${family} ${answer}`,
  prompt: 'Which ?',
  metadata: { family },
  answer,
});
const pays = async (asked: object, answer: string) =>
  (asked as { answer: string }).answer === answer;
const trained = [
  task('dict', 'Ann'),
  task('dict', 'Bea'),
  task('dict', 'Bea'),
  task('text', 'Ann'),
  task('text', 'Ann'),
  task('text', 'Cid'),
];

describe('A table of constant answers', () => {
  test('has the answer that was paid most often in each family', async () => {
    const answerTo = await bestConstants(trained, pays);
    expect(answerTo(task('dict', 'Cid'))).toBe('Bea');
    expect(answerTo(task('text', 'Cid'))).toBe('Ann');
  });

  test('has the answer that was paid most often overall for other families', async () => {
    // Ann 3 times, Bea twice, Cid once.
    const answerTo = await bestConstants(trained, pays);
    expect(answerTo(task('pairs', 'Cid'))).toBe('Ann');
  });

  test('learns from what the judge pays, not from the answers', async () => {
    const answerTo = await bestConstants(trained, async (_, answer) => answer === 'Cid');
    expect(answerTo(task('text', 'Ann'))).toBe('Cid');
    // Where no constant is paid, the first in the alphabet.
    expect(answerTo(task('dict', 'Ann'))).toBe('Ann');
  });
});
