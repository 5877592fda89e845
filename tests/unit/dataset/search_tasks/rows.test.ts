import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { namesOf } from '#dataset/search_tasks/generator/names.ts';
import { jsonLines } from '#dataset/tables/json-lines.ts';
import { makeSearchData, shippedSeed } from '#dataset/search_tasks/generator/rows.ts';

const shipped = (path: string): string =>
  readFileSync(join(packageRoot(), 'dataset', path), 'utf8');
const data = makeSearchData(shippedSeed);

test('the shipped files are what the shipped seed makes', () => {
  expect(jsonLines(data.train) === shipped('search_tasks/train.jsonl')).toBe(true);
  expect(jsonLines(data.eval) === shipped('search_tasks/eval.jsonl')).toBe(true);
  expect(jsonLines(data.documents) === shipped('search_corpus/documents.jsonl')).toBe(true);
});

test('another seed makes another world', () => {
  const other = makeSearchData(2);
  expect(other.train[0]).not.toEqual(data.train[0]);
  expect(other.train.length).toBe(data.train.length);
});

describe('The search data', () => {
  const names = (rows: readonly object[]): ReadonlySet<string> =>
    new Set(JSON.stringify(rows).match(/\b[A-Z][aeio][lnr][a-z]{4}\b/gu));

  test('gives every name one owner', () => {
    const all = Object.values(namesOf).flat();
    expect(new Set(all).size).toBe(all.length);
  });

  test('uses different names in training and evaluation', () => {
    const trained = names(data.train);
    expect(trained.size).toBeGreaterThan(100);
    expect([...names(data.eval)].filter((name) => trained.has(name))).toEqual([]);
    expect([...trained].filter((name) => !namesOf.train.includes(name))).toEqual([]);
  });

  test('needs different documents in training and evaluation', () => {
    const needed = new Set(data.train.flatMap(({ documents }) => documents));
    expect(data.eval.flatMap(({ documents }) => documents).filter((id) => needed.has(id))).toEqual(
      [],
    );
  });

  test('contains 640 training questions and a headline of 218', () => {
    const total = data.eval.filter(({ metadata }) => metadata['slice'] === undefined);
    expect([data.train.length, total.length]).toEqual([640, 218]);
  });
});

test('no question contains its answer', () => {
  const named = [...data.train, ...data.eval].filter(({ question, answer }) =>
    question.includes(answer),
  );
  expect(named).toEqual([]);
});

describe('An answer that is stated nowhere', () => {
  const texts = new Map(data.documents.map(({ id, text }) => [id, text]));
  const absent = [...data.train, ...data.eval].filter(({ metadata }) => metadata['absent']);

  test('is asked for in a seventh of the training tasks and in a slice', () => {
    expect(data.train.filter(({ metadata }) => metadata['absent']).length).toBe(92);
    const slice = data.eval.filter(({ answer }) => answer === 'not stated');
    expect(new Set(slice.map(({ metadata }) => metadata['slice'])).size).toBe(1);
    expect(slice.length).toBeGreaterThanOrEqual(200);
  });

  test('is missing from the documents on the way, which may state a former one', () => {
    for (const { metadata, documents } of absent) {
      const relations = metadata.kind.split('-');
      const last = texts.get(documents.at(-1) ?? '');
      if (documents.length < relations.length || last === undefined) continue;
      const now = last.replaceAll(/former \w+( \w+)?/gu, '');
      expect(now).not.toContain(` ${relations.at(-1)}`);
    }
  });
});

test('every slice has tasks with facts that may be mistaken for the answer', () => {
  const slices = new Set(data.eval.map(({ metadata }) => metadata['slice']));
  for (const slice of slices) {
    const tasks = data.eval.filter(({ metadata }) => metadata['slice'] === slice);
    for (const distractor of ['former', 'namesake']) {
      const share =
        tasks.filter(({ metadata }) => metadata.distractors.includes(distractor)).length /
        tasks.length;
      expect(share).toBeGreaterThan(0.1);
    }
  }
});
