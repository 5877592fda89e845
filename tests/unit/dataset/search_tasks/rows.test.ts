import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import * as forms from '#dataset/search_tasks/generator/form.ts';
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

const all = [...data.train, ...data.eval];

describe('The search data', () => {
  test('gives every name one owner, and uses different names in training and evaluation', () => {
    const owned = Object.values(namesOf).flat();
    expect(new Set(owned).size).toBe(owned.length);
    const names = (rows: readonly object[]) =>
      new Set(JSON.stringify(rows).match(/\b[A-Z][aeio][lnr][a-z]{4}\b/gu));
    const trained = names(data.train);
    expect(trained.size).toBeGreaterThan(100);
    expect([...names(data.eval)].filter((name) => trained.has(name))).toEqual([]);
    expect([...trained].filter((name) => !namesOf.train.includes(name))).toEqual([]);
  });

  test('needs different documents in training and evaluation', () => {
    const needed = new Set(data.train.flatMap(({ documents }) => documents));
    const held = data.eval.flatMap(({ documents }) => documents);
    expect(held.filter((id) => needed.has(id))).toEqual([]);
  });

  test('has no question with its answer in it', () => {
    expect(all.filter(({ question, answer }) => question.includes(answer))).toEqual([]);
  });

  test('has tasks in every slice with facts that may be mistaken for the answer', () => {
    for (const slice of new Set(data.eval.map(({ metadata }) => metadata['slice']))) {
      const tasks = data.eval.filter(({ metadata }) => metadata['slice'] === slice);
      for (const distractor of ['former', 'namesake']) {
        const mistaken = tasks.filter(({ metadata }) => metadata.distractors.includes(distractor));
        expect(mistaken.length / tasks.length).toBeGreaterThan(0.1);
      }
    }
  });
});

const texts = new Map(data.documents.map(({ id, text }) => [id, text]));
const absent = all.filter(({ metadata }) => metadata['absent']);

test('an answer that is stated nowhere is missing from the documents on the way, which may state a former one', () => {
  for (const { metadata, documents } of absent) {
    const relations = metadata.kind.split('-');
    const last = texts.get(documents.at(-1) ?? '');
    if (documents.length < relations.length || last === undefined) continue;
    const now = last.replaceAll(/former \w+( \w+)?/gu, '');
    expect(now).not.toContain(` ${relations.at(-1)}`);
  }
});

const { documentText, trainedWordings, unseenWordings, wordingName } = forms;

test('an unseen wording is never trained, but each part of it is, with several others', () => {
  const trained = new Set(trainedWordings.map(wordingName));
  expect(unseenWordings.filter((one) => trained.has(wordingName(one)))).toEqual([]);
  for (const unseen of unseenWordings) {
    for (const part of ['mention', 'link'] as const) {
      const alike = trainedWordings.filter((one) => one[part] === unseen[part]);
      expect(alike.length).toBeGreaterThan(3);
    }
  }
});

test('a document states its facts in its form, each up to where it ends', () => {
  const subject = {
    title: 'Velmora',
    type: 'town',
    facts: [
      { relation: 'mayor', value: 'Tamlina', earlier: false },
      { relation: 'mayor', value: 'Kelpano', earlier: true },
    ],
  } as const;
  const form = { opening: 'A #: ', separator: ' | ' } as const;
  const { text, ends } = documentText(subject, { ...form, mention: 'the {} @', link: '@ is =' });
  const first = 'A town: the Velmora mayor is Tamlina';
  const both = `${first} | the Velmora former mayor is Kelpano`;
  expect(text).toBe(`${both}.`);
  expect(ends.map((end) => text.slice(0, end))).toEqual([first, both]);
  const other = { opening: 'Known of {}: ', separator: '; ' } as const;
  expect(documentText(subject, { ...other, mention: "{}'s @", link: '= as @' }).text).toBe(
    "Known of Velmora: Tamlina as Velmora's mayor; Kelpano as Velmora's former mayor.",
  );
});
