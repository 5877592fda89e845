import { describe, expect, test } from '@jest/globals';

import { answerWords, isAnswer, mentionsAnswer } from '#agent_rl/core/tasks/answer-match.ts';
import * as fc from '#tests/support/properties.ts';

test.each([
  ['Crohn’s disease', ['crohns', 'disease']],
  ['Saint-Étienne', ['saint', 'etienne']],
  ['C++ and C#', ['c++', 'and', 'c#']],
  ['1,200.50 km', ['1200.5', 'km']],
  ['costs $1,200.50.', ['costs', '1200.5']],
  ['-$5 or $-5', ['-5', 'or', '-5']],
  ['1, 2, 3', ['1', '2', '3']],
  ['1,2,3', ['1', '2', '3']],
  ['1,200,30', ['1', '200', '30']],
  ['007', ['7']],
  ['0.50 and .5', ['0.5', 'and', '0.5']],
  ['−0.0', ['0']],
  ['5.5kg', ['5.5kg']],
  ['release 1.12.0', ['release', '1.12.0']],
  ['12:30 on 3/4/2020', ['12:30', 'on', '3/4/2020']],
  ['½', ['1/2']],
  ['1990-1995', ['1990', '1995']],
  ['12 %', ['12', 'percent']],
  ['東京タワー', ['東', '京', 'タ', 'ワ', 'ー']],
  ['5年', ['5', '年']],
  ['?!', []],
])('the words of the answer %j are %j', (text, words) => {
  expect(answerWords(text)).toEqual(words);
});

/** The text and the answer of `text ~ answer`. */
const sides = (pair: string) => pair.split(' ~ ');

describe('A whole answer', () => {
  test.each([
    ['The Eiffel Tower. ~ eiffel tower', 'ＯＳＬＯ ~ Oslo', '1,000 ~ 1000.0', 'A ~ a'],
    ['12 percent ~ 12%'],
  ])('is the answer in %j, …', (...pairs) => {
    for (const [text = '', answer = ''] of pairs.map(sides))
      expect([text, isAnswer(text, ['something else', answer])]).toEqual([text, true]);
  });

  test.each([
    ['Oslo, Norway ~ Oslo', 'vitamin ~ vitamin A', '18 dollars ~ 18', '5 ~ -5', ' ~ ', '!! ~ ??'],
  ])('is not the answer in %j, …', (...pairs) => {
    for (const [text = '', answer = ''] of pairs.map(sides))
      expect([text, isAnswer(text, [answer])]).toEqual([text, false]);
  });
});

describe('An answer within a text', () => {
  test.each([
    ['It is Oslo.', 'oslo'],
    ['They climbed the Eiffel Tower in 1990.', 'The Eiffel Tower'],
    ['about 1,200 people', '1200'],
    ['答えは東京です', '東京'],
  ])('%j mentions %j', (text, answer) => {
    expect(mentionsAnswer(text, [answer])).toBe(true);
  });

  test.each([
    ['Oslofjord', 'Oslo'],
    ...['120', '1.12', '12:30', '1/12', 'x = -12', '12th', '12,000'].map((text) => [text, '12']),
    ['vitamin B', 'vitamin A'],
    ['anything', '...'],
    ['', '...'],
  ])('%j does not mention %j', (text, answer) => {
    expect(mentionsAnswer(text, [answer])).toBe(false);
  });
});

test('normalising words twice changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const words = answerWords(text);
      expect(answerWords(words.join(' '))).toEqual(words);
    }),
    { numRuns: 2000 },
  );
});

test('equal numbers match in any spelling', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.nat(99), (whole, cents) => {
      const plain = `${whole}.${String(cents).padStart(2, '0')}`;
      const grouped = `${whole.toLocaleString('en-US')}.${String(cents).padStart(2, '0')}0`;
      expect(isAnswer(grouped, [plain])).toBe(true);
      expect(mentionsAnswer(`so ${grouped}.`, [plain])).toBe(true);
    }),
  );
});
