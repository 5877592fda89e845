import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { formName, trainedForms, unseenForms } from '#dataset/workspace_tasks/generator/form.ts';
import { relationsOf, thingsOf } from '#dataset/workspace_tasks/generator/names.ts';
import {
  evalRows,
  sliceNames,
  trainedChain,
  trainRow,
} from '#dataset/workspace_tasks/generator/rows.ts';
import {
  isUnseenPair,
  type RelationStep,
  stepName,
  trainedSteps,
  unseenSteps,
} from '#dataset/workspace_tasks/generator/step.ts';
import { drawQuestion, phrase, shortCuts } from '#dataset/workspace_tasks/generator/task.ts';
import { walk } from '#dataset/workspace_tasks/generator/world.ts';

const wordsOf = (question: string): string[] => question.match(/[A-Za-z]+/g) ?? [];

const relation = (name: string, ...values: [string, string][]): RelationStep => ({
  kind: 'relation',
  name,
  form: { holder: 'dict', keys: 'same' },
  values: new Map(values),
});

describe('The names', () => {
  test.each([thingsOf, relationsOf])('differ between warm-up, training and evaluation', (of) => {
    const all = [...of.warmUp, ...of.train, ...of.eval];
    expect(new Set(all).size).toBe(all.length);
    for (const share of [of.warmUp, of.train, of.eval]) expect(share.length).toBeGreaterThan(60);
  });
});

describe('The steps', () => {
  test('differ between training and the unseen forms', () => {
    expect([trainedForms.length, unseenForms.length]).toEqual([10, 5]);
    expect(new Set([...trainedForms, ...unseenForms].map(formName)).size).toBe(15);
    const all = [trainedSteps, unseenSteps].flatMap((steps) => Object.values(steps).flat());
    // 15 forms of relations, and 24 of tables for each of two questions.
    expect(new Set(all.map(stepName)).size).toBe(15 + 2 * 24);
    expect([trainedSteps.largest.length, unseenSteps.largest.length]).toEqual([15, 9]);
  });

  test('reuse trained holders and styles of names in unseen forms', () => {
    for (const { holder, keys } of unseenForms) {
      expect(trainedForms.some((form) => form.holder === holder)).toBe(true);
      expect(trainedForms.some((form) => form.keys === keys)).toBe(true);
    }
  });

  test('never follow one another in training for one pair in five', () => {
    const { relation: relations, largest, total } = trainedSteps;
    const pairs = [...relations, ...largest].flatMap((first) =>
      [...relations, ...total].map((second) => [first, second] as const),
    );
    const unseen = pairs.filter(([first, second]) => isUnseenPair(first, second));
    expect(unseen.length).toBe(pairs.length / 5);
    for (let index = 0; index < 200; index++) {
      const chain = trainedChain(2 + (index % 3), new KeyedRng(index));
      const next = chain.slice(1);
      expect(next.some((step, at) => isUnseenPair(chain[at]!, step))).toBe(false);
    }
  });
});

describe('shortCuts', () => {
  test('lists what lies on the way, other relations, parts of the chain and the chain backwards', () => {
    const first = relation('jaf', ['a', 'b'], ['b', 'c'], ['c', 'f']);
    const second = relation('zof', ['a', 'c'], ['b', 'd'], ['c', 'a']);
    const spare = [relation('vug', ['a', 'e'])];
    const chain = [first, second];
    const world = { things: ['a', 'b', 'c', 'd', 'e', 'f'], chain, spare };
    expect(phrase('a', chain)).toBe('the zof of the jaf of a');
    expect(walk('a', chain)).toEqual(['a', 'b', 'd']);
    // Itself, jaf of it, zof of it, vug of it, and jaf of its zof.
    expect([...shortCuts('a', world)].toSorted()).toEqual(['a', 'b', 'c', 'e', 'f']);
  });

  test('never contains the answer of a question', () => {
    for (let index = 0; index < 80; index++) {
      const forms = trainedChain(1 + (index % 4), new KeyedRng('forms', index));
      const { start, answer, world, other } = drawQuestion(forms, 'train', new KeyedRng(index));
      expect(walk(start, world.chain).at(-1)).toBe(answer);
      expect(shortCuts(start, world)).not.toContain(answer);
      expect(other.answer).not.toBe(answer);
    }
  });
});

describe('The data set', () => {
  test('gives the same question for the same seed and place, and another one otherwise', () => {
    expect(trainRow(1, 5)).toEqual(trainRow(1, 5));
    const questions = [trainRow(1, 5), trainRow(1, 6), trainRow(2, 5)].map((row) => row.question);
    expect(new Set(questions).size).toBe(3);
  });

  test('trains on two steps, and on three in two of five questions', () => {
    const depths = Array.from({ length: 400 }, (_, index) => trainRow(4, index).depth);
    expect(new Set(depths)).toEqual(new Set([2, 3]));
    expect(Math.abs(depths.filter((depth) => depth === 3).length - 160)).toBeLessThan(35);
  });

  test('trains on names and pairs that the evaluation does not have', () => {
    const trained = Array.from({ length: 200 }, (_, index) => trainRow(3, index));
    const held = evalRows(20);
    const namesIn = (rows: readonly { question: string }[]) =>
      new Set(rows.flatMap(({ question }) => wordsOf(question)));
    const common = [...namesIn(trained)].filter((word) => namesIn(held).has(word));
    expect(common.toSorted().join(' ')).toBe('What csv in is json largest of the total where with');
    const kept = held.filter(({ slice }) => slice === 'unseen pairs');
    const unseen = new Set(kept.map((row) => row.family));
    expect(trained.filter(({ family }) => unseen.has(family))).toEqual([]);
  });

  test('asks for the number of steps that its slice names', () => {
    const depths = new Map(evalRows(3).map(({ slice, depth }) => [slice, depth]));
    expect([...depths.keys()]).toEqual(sliceNames);
    expect([...depths.values()]).toEqual([2, 2, 1, 3, 4, 2]);
  });

  test('asks for one unseen form in each question of the slice for unseen forms', () => {
    const unseen = new Set(Object.values(unseenSteps).flat().map(stepName));
    for (const { family } of evalRows(30, ['unseen forms']))
      expect(family.split('+').filter((form) => unseen.has(form))).toHaveLength(1);
  });
});
