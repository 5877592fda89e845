import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { firstAlike } from '#dataset/prepare/passages/near-duplicates.ts';

const sentence = (seed: string, words: number): string[] => {
  const rng = new KeyedRng('near-duplicates', seed);
  return Array.from({ length: words }, () => `w${rng.integer(5000)}`);
};

describe('firstAlike', () => {
  test('ignores case, spaces and punctuation', () => {
    expect(firstAlike(['The  cat sat.', 'a dog', 'the cat, sat'], 1)).toEqual([0, 1, 0]);
  });

  test('matches texts that differ in one word of a hundred at 0.9, and not at 0.97', () => {
    const words = sentence('a', 100);
    const changed = words.with(50, 'other').join(' ');
    // 98 triples each, 3 of them changed: 95 / 101 = 0.94.
    expect(firstAlike([words.join(' '), changed], 0.9)).toEqual([0, 0]);
    expect(firstAlike([words.join(' '), changed], 0.97)).toEqual([0, 1]);
  });

  test('returns the first text of a chain', () => {
    const words = sentence('b', 200);
    const texts = [words, words.with(5, 'x'), words.with(5, 'x').with(150, 'y')];
    const joined = texts.map((text) => text.join(' '));
    expect(firstAlike(joined, 0.95)).toEqual([0, 0, 0]);
  });

  test('never matches texts that share little', () => {
    const texts = Array.from({ length: 60 }, (_, i) => sentence(`c${i}`, 40).join(' '));
    expect(firstAlike(texts, 0.5)).toEqual(texts.map((_, i) => i));
  });

  test('matches texts without words', () => {
    expect(firstAlike(['...', '\u2014', 'word'], 0.8)).toEqual([0, 0, 2]);
  });
});
