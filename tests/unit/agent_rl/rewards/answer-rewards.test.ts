import { describe, expect, test } from '@jest/globals';

import type { Message } from '#agent_rl/core/message.ts';
import { exactMatch } from '#agent_rl/rewards/exact-match.ts';
import { f1, wordF1 } from '#agent_rl/rewards/f1.ts';
import { finalAnswer } from '#agent_rl/rewards/final-answer.ts';
import { integerAnswer } from '#agent_rl/rewards/integer-answer.ts';
import { length } from '#agent_rl/rewards/length.ts';
import { episodeOf } from '#tests/support/episodes.ts';
import * as fc from '#tests/support/properties.ts';

const task = { answer: 'Oslo', aliases: ['Kristiania'] };

describe('The reward exact_match', () => {
  const whole = { match: 'whole' } as const;

  test.each([
    ['oslo.', 1],
    ['KRISTIANIA', 1],
    ['It is Oslo', 0],
    ['Bergen', 0],
  ])('%j is worth %d', (said, worth) => {
    expect(exactMatch(episodeOf(task, [{ said }]), whole)).toBe(worth);
  });

  test('finds the answer as whole words in a longer message, if that is enough', () => {
    const mention = { match: 'mention' } as const;
    expect(exactMatch(episodeOf(task, [{ said: 'It is Oslo, I think.' }]), mention)).toBe(1);
    expect(exactMatch(episodeOf(task, [{ said: 'The Oslofjord.' }]), mention)).toBe(0);
  });

  test('ignores thoughts and messages with calls', () => {
    const call = { tool: 'search', content: 'Oslo' };
    expect(exactMatch(episodeOf(task, [{ thought: 'Oslo', said: 'Bergen' }]), whole)).toBe(0);
    expect(exactMatch(episodeOf(task, [{ said: 'Oslo', calls: [call] }]), whole)).toBe(0);
    expect(exactMatch(episodeOf(task, [{ said: 'Oslo' }, { calls: [call] }]), whole)).toBe(0);
  });

  test('ignores text beside a call that did not run', () => {
    const [question] = episodeOf({}, []).messages;
    const said = { role: 'assistant', content: 'Oslo' } as const;
    const call = { id: 'call_0_0', name: 'search', arguments: {} };
    const final = (last: Message) => finalAnswer(question === undefined ? [] : [question, last]);
    expect(final(said)).toBe('Oslo');
    expect(final({ ...said, toolCalls: [call] })).toBeUndefined();
    const broken = { id: 'call_0_0', text: '{', problem: 'no JSON' };
    expect(final({ ...said, malformedCalls: [broken] })).toBeUndefined();
  });

  test('reads the answer from the metadata of a plain task, and does not apply without one', () => {
    const plain = { metadata: { answer: 18 } };
    expect(exactMatch(episodeOf(plain, [{ said: '18.0' }]), whole)).toBe(1);
    expect(exactMatch(episodeOf({}, [{ said: 'Oslo' }]), whole)).toBeUndefined();
  });
});

describe('The reward f1', () => {
  test.each([
    // 2 of 3 words said are among the 4 wanted: P = 2/3, R = 2/4, 2PR / (P + R) = 4/7.
    ['red green black', 'red green blue white', 4 / 7],
    // "red" stands twice in one and once in the other: counted once. 2 * 1 / (2 + 1).
    ['red red', 'red', 2 / 3],
    ['the tower', 'Tower!', 1],
    ['The', 'the', 1],
    ['black', 'white', 0],
    ['', 'white', 0],
    ['...', '...', 0],
  ])('compares %j with the answer %j: %d', (said, answer, score) => {
    expect(wordF1(said, answer)).toBeCloseTo(score, 12);
  });

  test('uses the best alias', () => {
    const two = { answer: 'black', aliases: ['dark grey'] };
    expect(f1(episodeOf(two, [{ said: 'grey' }]))).toBeCloseTo(2 / 3, 12);
    expect(f1(episodeOf({}, [{ said: 'grey' }]))).toBeUndefined();
  });

  test('lies between 0 and 1, is symmetric, and is 1 for the same words in any order', () => {
    const words = fc.array(fc.constantFrom('a', 'red', 'green', '7', 'blue'), { maxLength: 8 });
    fc.assert(
      fc.property(words, words, (left, right) => {
        const [a, b] = [left.join(' '), right.join(' ')];
        const score = wordF1(a, b);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        expect(wordF1(b, a)).toBe(score);
        expect(wordF1(a, left.toReversed().join(' '))).toBe(left.length === 0 ? 0 : 1);
      }),
    );
  });
});

describe('The reward length', () => {
  const settings = { freeWords: 2, perWord: 0.25, maxCost: 0.6 };

  test.each([
    ['one two', 0],
    ['one, two: three!', -0.25],
    ['one two three four', -0.5],
    ['one two three four five six', -0.6],
  ])('rates %j: %d', (said, score) => {
    expect(length(episodeOf({}, [{ thought: 'as long as it takes', said }]), settings)).toBe(score);
  });

  test('does not apply without a final message', () => {
    const view = episodeOf({}, [{ calls: [{ tool: 'search' }] }]);
    expect(length(view, settings)).toBeUndefined();
  });
});

describe('The reward integer_answer', () => {
  const aime = { from: 0, to: 999 };

  test.each([
    [1, ['\\boxed{204}', '\\boxed{025}', 'So the answer is 0.', '\\boxed{12.0}', '\\boxed{6/3}']],
    [1, ['\\boxed{999}']],
    [0, ['\\boxed{1000}', '\\boxed{-1}', '\\boxed{1/2}', '\\boxed{many}']],
    // Not marked.
    [0, ['204']],
  ])('is %d for each of %j', (worth, messages) => {
    for (const said of messages)
      expect([said, integerAnswer(episodeOf({}, [{ said }]), aime)]).toEqual([said, worth]);
  });

  test('ignores whether the answer is right, and is 0 for a message with calls', () => {
    expect(integerAnswer(episodeOf({ answer: '7' }, [{ said: '\\boxed{8}' }]), aime)).toBe(1);
    const calling = { said: '\\boxed{8}', calls: [{ tool: 'code_exec' }] };
    expect(integerAnswer(episodeOf({}, [calling]), aime)).toBe(0);
  });

  test('uses the bounds of the settings', () => {
    const said = [{ said: '\\boxed{-5}' }];
    expect(integerAnswer(episodeOf({}, said), { from: -10, to: -5 })).toBe(1);
  });
});
