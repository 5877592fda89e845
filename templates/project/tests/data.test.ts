import { describe, expect, test } from '@jest/globals';
import { KeyedRng } from 'agent_rl/plugin';

import { demonstrate } from '../data/demonstrate.ts';
import { questionsOf, type Split } from '../data/questions.ts';
import { convert } from '../plugins/units.ts';

const splits: Split[] = ['demonstrations', 'train', 'eval', 'unseen-pair'];

const keysOf = (split: Split) =>
  new Set(questionsOf(split, 200).map(({ value, from, to }) => `${value} ${from} ${to}`));

const pairsOf = (split: Split) =>
  new Set(questionsOf(split, 200).map(({ from, to }) => `${from} to ${to}`));

describe('questionsOf', () => {
  test('puts every question in one split only', () => {
    const all = splits.flatMap((split) => Array.from(keysOf(split)));
    expect(new Set(all).size).toBe(all.length);
  });

  test('keeps the unit pairs of unseen-pair out of the other splits', () => {
    const unseen = pairsOf('unseen-pair');
    for (const split of ['demonstrations', 'train', 'eval'] as const) {
      expect([...pairsOf(split)].filter((pair) => unseen.has(pair))).toEqual([]);
    }
  });

  test('returns the same questions each time', () => {
    expect(questionsOf('eval', 20)).toEqual(questionsOf('eval', 20));
  });
});

const rngOf = (index: number) => new KeyedRng('test', index);

describe('demonstrate', () => {
  const questions = questionsOf('demonstrations', 600);

  test('makes only right conversations if it is careful', () => {
    for (const [index, question] of questions.entries()) {
      const { messages, right } = demonstrate(question, rngOf(index), true);
      expect(right).toBe(true);
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    }
  });

  test('makes about one right conversation in three otherwise', () => {
    const made = questions.map((question, index) => demonstrate(question, rngOf(index)));
    const share = made.filter(({ right }) => right).length / made.length;
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.45);
  });

  test('shows the answer of the tool', () => {
    const { messages } = demonstrate(questions[0]!, rngOf(0), true);
    const args = messages[1]?.tool_calls?.[0]?.arguments as {
      value: number;
      from: string;
      to: string;
    };
    expect(messages[2]?.content).toBe(convert(args.value, args.from, args.to));
  });
});
