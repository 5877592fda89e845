import { describe, expect, test } from '@jest/globals';

import { bestConstants } from '#scripts/bench/controls/tasks/best-constants.ts';
import { overlap } from '#scripts/bench/controls/tasks/overlap.ts';
import { overlapMarkdown } from '#scripts/bench/controls/report/overlap-markdown.ts';

// In 20 prompts a name of one or of none is no wording: 10 % of them are two.
const seen = Array.from({ length: 20 }, (_, index) => ({
  prompt: index < 10 ? `What is the n${index} of Thing${index} ?` : `Say Thing${index} .`,
  world: `world ${index}`,
  family: index < 10 ? 'dict+text' : 'text+dict+dict',
  answer: `Answer${index}`,
}));

describe('overlap', () => {
  test('counts prompts as they are and up to names', () => {
    const asked = ['What is the n3 of Thing3 ?', 'What is the n3 of Other ?'];
    const held = [...asked, 'Say Other .', 'Who is Other ?'].map((prompt) => ({ prompt }));
    expect(overlap(held, seen)).toMatchObject({ tasks: 4, prompt: 0.25, promptUpToNames: 0.75 });
  });

  test('counts worlds, answers, and tasks whose forms or pairs of forms were all seen', () => {
    const task = { prompt: 'Say Other .', world: 'new', answer: 'New' };
    const held = [
      { ...task, family: 'dict+text', world: 'world 4' },
      { ...task, family: 'dict+dict', answer: 'Answer4' },
      { ...task, family: 'text+text' },
      { ...task, family: 'dict+pairs' },
    ];
    const shares = { world: 0.25, answer: 0.25, family: 0.25, forms: 0.75, pairs: 0.5 };
    expect(overlap(held, seen)).toMatchObject(shares);
    // A single form has no pairs.
    const single = overlap([{ prompt: 'Say Other .', family: 'dict' }], seen);
    expect(single).toMatchObject({ forms: 1, pairs: null });
  });

  test('is unknown, not 0, if one side lacks the field', () => {
    const prompts = seen.map(({ prompt }) => ({ prompt }));
    const found = overlap([{ prompt: 'Say Other .', world: 'new' }], prompts);
    expect(found).toMatchObject({ world: null, family: null, answer: null });
    const row = '| headline, in training | 1 | 0.0 | 100.0 | - | - | - | - | - |';
    expect(overlapMarkdown({ training: { headline: found }, warmUp: null })).toContain(row);
  });
});

describe('A table of constant answers', () => {
  const task = (family: string, answer: string) => ({
    taskId: `${family} ${answer}`,
    prompt: 'Which ?',
    metadata: { family },
    answer,
  });
  const trained = [
    ...['Ann', 'Bea', 'Bea'].map((answer) => task('dict', answer)),
    ...['Ann', 'Ann', 'Cid'].map((answer) => task('text', answer)),
  ];
  const answered = async (asked: object, answer: string) =>
    (asked as { answer: string }).answer === answer;
  const onlyCid = async (_: object, answer: string) => answer === 'Cid';

  test.each([
    ['in its family', answered, 'dict', 'Bea'],
    ['in its family', answered, 'text', 'Ann'],
    // Ann 3 times, Bea twice, Cid once.
    ['overall for other families', answered, 'pairs', 'Ann'],
    ['by the judge', onlyCid, 'text', 'Cid'],
    // Where no constant is paid, the first in the alphabet.
    ['at all, or the first', onlyCid, 'dict', 'Ann'],
  ])('has the answer that was paid most often %s', async (_, pays, family, expected) => {
    const answerTo = await bestConstants(trained, pays);
    expect(answerTo(task(family, 'Dan'))).toBe(expected);
  });
});
