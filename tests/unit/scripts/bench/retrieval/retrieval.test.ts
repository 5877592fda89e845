import { describe, expect, test } from '@jest/globals';

import { gainByPage, meanByPage, measuredText } from '#scripts/bench/retrieval/by-page.ts';
import { collectionsOf, type MedquadQuestion } from '#scripts/bench/retrieval/medquad.ts';
import { remembering } from '#scripts/bench/retrieval/model-embedder.ts';

const question = (index: number, page: string, answer: string): MedquadQuestion => ({
  text: `What is question ${index}?`,
  answer,
  page,
  title: page,
  index,
});

const questions = [
  question(0, 'a', 'Red apples grow. Apples grow red.'),
  question(1, 'a', 'Blue boats sail. Boats sail blue.'),
  question(2, 'b', 'Old clocks tick. Clocks tick old.'),
  question(3, 'b', 'Wet ducks swim. Ducks swim wet.'),
  question(4, 'b', 'One sentence.'),
];

describe('intervals over pages', () => {
  const values = [
    { page: 'a', value: 1 },
    { page: 'a', value: 1 },
    { page: 'b', value: 0 },
    { page: 'b', value: 0 },
  ];

  test('hold whole pages together: of two pages resamples reach from none to all', () => {
    expect(meanByPage(values)).toEqual({ mean: 0.5, low: 0, high: 1 });
    expect(measuredText(meanByPage(values))).toBe('0.500 (0.000 to 1.000)');
  });

  test('of a difference are over pairs: page a gains nothing, page b a quarter each', () => {
    const after = values.map(({ page, value }) => ({ page, value: value === 1 ? 1 : 0.25 }));
    expect(gainByPage(values, after)).toEqual({ mean: 0.125, low: 0, high: 0.25 });
  });
});

test('a page is one document with all its answers, and each answer is one', () => {
  const [pages, answers] = collectionsOf(questions);
  expect(pages?.documents).toHaveLength(2);
  expect(pages?.documents[0]).toEqual({
    id: 'a',
    title: 'a',
    text: 'Red apples grow. Apples grow red.\n\nBlue boats sail. Boats sail blue.',
  });
  expect(answers?.documents).toHaveLength(5);
  for (const one of questions) {
    expect(pages?.targetOf(one)).toBe(one.page);
    const target = answers?.documents.find(({ id }) => id === answers.targetOf(one));
    expect(target?.text).toBe(one.answer);
  }
});

test('the vector of a query is made once', async () => {
  let made = 0;
  const embed = async (texts: readonly string[]) => {
    made += texts.length;
    return texts.map(() => Float32Array.of(1));
  };
  const embedder = remembering({ name: 'one', embed, close: async () => {} });
  await embedder.embed(['a', 'b'], 'query');
  await embedder.embed(['b'], 'query');
  expect(made).toBe(2);
  await embedder.embed(['b', 'b'], 'passage');
  expect(made).toBe(4);
});
