import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { formName, trainedForms, unseenForms } from '#dataset/workspace_tasks/generator/form.ts';
import { relationsOf, thingsOf } from '#dataset/workspace_tasks/generator/names.ts';
import { evalRows, pairs, sliceNames, trainRow } from '#dataset/workspace_tasks/generator/rows.ts';
import { drawQuestion, shortCuts } from '#dataset/workspace_tasks/generator/task.ts';
import { walk, type Relation } from '#dataset/workspace_tasks/generator/world.ts';

const wordsOf = (question: string): string[] => question.match(/[A-Za-z]+/g) ?? [];

const relation = (name: string, ...values: [string, string][]): Relation => ({
  name,
  form: { holder: 'dict', keys: 'same' },
  values: new Map(values),
});

describe('names', () => {
  test.each([thingsOf, relationsOf])('of warm-up, training and evaluation differ', (of) => {
    const all = [...of.warmUp, ...of.train, ...of.eval];
    expect(new Set(all).size).toBe(all.length);
    for (const share of [of.warmUp, of.train, of.eval]) expect(share.length).toBeGreaterThan(60);
  });
});

describe('forms', () => {
  test('that training shows differ from those it does not', () => {
    const names = [...trainedForms, ...unseenForms].map(formName);
    expect(new Set(names).size).toBe(10);
  });

  test('are paired in every order, and one pair in five is kept from training', () => {
    expect([pairs.trained.length, pairs.unseen.length]).toEqual([39, 10]);
    const all = [...pairs.trained, ...pairs.unseen].map((forms) => forms.map(formName).join('+'));
    expect(new Set(all).size).toBe(49);
    for (const form of trainedForms)
      for (const place of [0, 1]) {
        const kept = pairs.unseen.filter((forms) => forms[place] === form).length;
        expect([1, 2]).toContain(kept);
      }
  });
});

describe('short cuts', () => {
  test('are what is met on the way, other relations, parts of the chain and the chain backwards', () => {
    const first = relation('jaf', ['a', 'b'], ['b', 'c'], ['c', 'f']);
    const second = relation('zof', ['a', 'c'], ['b', 'd'], ['c', 'a']);
    const spare = relation('vug', ['a', 'e']);
    const world = { things: ['a', 'b', 'c', 'd', 'e', 'f'], relations: [first, second, spare] };
    expect(walk('a', [first, second])).toEqual(['a', 'b', 'd']);
    // Itself, jaf of it, zof of it, vug of it, and jaf of its zof.
    expect([...shortCuts('a', [first, second], world)].toSorted()).toEqual([
      'a',
      'b',
      'c',
      'e',
      'f',
    ]);
  });

  test('answer no question', () => {
    for (let index = 0; index < 60; index++) {
      const forms = Array.from({ length: 1 + (index % 4) }, () => trainedForms[index % 7] as never);
      const drawn = drawQuestion(forms, 'train', new KeyedRng(index));
      const { start, chain, answer, world, other } = drawn;
      expect(walk(start, chain).at(-1)).toBe(answer);
      expect(shortCuts(start, chain, world)).not.toContain(answer);
      expect(other.answer).not.toBe(answer);
    }
  });
});

describe('the data set', () => {
  test('gives the same question for a seed and a place, and others for others', () => {
    expect(trainRow(1, 5)).toEqual(trainRow(1, 5));
    const questions = [trainRow(1, 5), trainRow(1, 6), trainRow(2, 5)].map((row) => row.question);
    expect(new Set(questions).size).toBe(3);
  });

  test('trains on names and pairs that the evaluation does not have', () => {
    const trained = Array.from({ length: 200 }, (_, index) => trainRow(3, index));
    const held = evalRows(20);
    const namesIn = (rows: readonly { question: string }[]) =>
      new Set(rows.flatMap(({ question }) => wordsOf(question)));
    const common = [...namesIn(trained)].filter((word) => namesIn(held).has(word));
    expect(common.toSorted()).toEqual(['What', 'is', 'of', 'the']);
    const kept = held.filter(({ slice }) => slice === 'unseen pairs');
    const unseen = new Set(kept.map((row) => row.family));
    expect(trained.filter(({ family }) => unseen.has(family))).toEqual([]);
  });

  test('asks for a chain of as many relations as its slice says', () => {
    const depths = new Map(evalRows(3).map(({ slice, depth }) => [slice, depth]));
    expect([...depths.keys()]).toEqual(sliceNames);
    expect([...depths.values()]).toEqual([2, 2, 1, 3, 4, 2]);
  });

  test('asks for a form that training never showed in each question of that slice', () => {
    for (const { family } of evalRows(30, ['unseen forms']))
      expect(family.split('+').some((form) => unseenForms.map(formName).includes(form))).toBe(true);
  });
});
